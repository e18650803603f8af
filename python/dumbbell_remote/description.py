"""Description of the backend `remote:HOST`."""

from dumbbell.base.backend import Backend, Capabilities, Wording

BACKEND = Backend(
    "remote:HOST",
    Capabilities(real_packets=True, max_jobs=1, shared_link=True),
    Wording(
        test="test over the network",
        path_prefix="Tested over the network",
        brief="real packets to and from another machine",
        note="Backend remote: real packets passed the network between two machines. One-way delays come with the "
        "interval that the true ones lie in: nobody can know from its two ends how much longer one way of a path is.",
    ),
    executor="dumbbell_remote.backend",
)
