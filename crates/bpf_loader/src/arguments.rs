//! The command line.

use crate::error::Error;
use std::time::Duration;

pub(crate) const HELP: &str = "\
dumbbell-kernel: our TCP controllers in the running Linux kernel (BPF struct_ops)

  dumbbell-kernel list [--json]             the controllers, and who has them registered
  dumbbell-kernel check [--json]            what this machine lacks, and the fix
  dumbbell-kernel hold [--wait S] NAME...   register, print 'ready NAME...', keep until standard input closes or a signal;
                                            S: how long to wait for another holder's registering (default 60)
  dumbbell-kernel load NAME...              register until 'unload' or the next boot (pinned in /sys/fs/bpf/dumbbell)
  dumbbell-kernel unload NAME...|--all      undo 'load'

  --verbose   what libbpf and the kernel's verifier say
Exit status 2 after an error, and of 'check' if something is missing.
";

#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Help,
    List {
        json: bool,
    },
    Check {
        json: bool,
    },
    Hold {
        names: Vec<String>,
        wait: Duration,
    },
    Load {
        names: Vec<String>,
    },
    /// No names: all.
    Unload {
        names: Vec<String>,
    },
}

#[derive(Debug, PartialEq)]
pub(crate) struct Arguments {
    pub(crate) command: Command,
    pub(crate) verbose: bool,
}

/// Reads the words after the program's name.
pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Arguments, Error> {
    let (mut names, mut json, mut verbose, mut all, mut help, mut wait) =
        (vec![], false, false, false, false, None);
    let mut words = words;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => json = true,
            "--verbose" => verbose = true,
            "--all" => all = true,
            "--help" | "-h" => help = true,
            "--wait" => wait = Some(seconds(words.next().as_deref())?),
            option if option.starts_with('-') => return Err(Error::NoOption(option.to_owned())),
            _ => names.push(word),
        }
    }
    if help || names.is_empty() {
        return Ok(Arguments { command: Command::Help, verbose });
    }
    let command = names.remove(0);
    let options = [("--json", json), ("--all", all), ("--wait", wait.is_some())];
    let (allowed, needs_names): (&[&str], bool) = match command.as_str() {
        "list" | "check" => (&["--json"], false),
        "hold" => (&["--wait"], true),
        "load" => (&[], true),
        "unload" => (&["--all"], !all),
        _ => return Err(Error::NoCommand(command)),
    };
    if let Some((option, _)) = options.iter().find(|(option, given)| *given && !allowed.contains(option)) {
        return Err(Error::Misplaced { command, option });
    }
    if needs_names && names.is_empty() {
        return Err(Error::NoNames(command));
    }
    if !needs_names && !names.is_empty() {
        return Err(Error::Names { command, names: names.join(" ") });
    }
    let command = match command.as_str() {
        "list" => Command::List { json },
        "check" => Command::Check { json },
        "hold" => Command::Hold { names, wait: wait.unwrap_or(Duration::from_mins(1)) },
        "load" => Command::Load { names },
        _ => Command::Unload { names },
    };
    Ok(Arguments { command, verbose })
}

fn seconds(word: Option<&str>) -> Result<Duration, Error> {
    let word = word.ok_or(Error::NoSeconds)?;
    word.parse::<f64>()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| Error::Seconds(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Result<Command, String> {
        let words = line.split_whitespace().map(String::from);
        parse(words).map(|arguments| arguments.command).map_err(|error| error.to_string())
    }

    #[test]
    fn every_command_is_read() {
        let names = || vec!["bpf_vegas".to_owned(), "bpf_copa_delay".to_owned()];
        assert_eq!(command("list --json"), Ok(Command::List { json: true }));
        assert_eq!(
            command("hold --wait 0.5 bpf_vegas bpf_copa_delay"),
            Ok(Command::Hold { names: names(), wait: Duration::from_millis(500) })
        );
        assert_eq!(command("load bpf_vegas bpf_copa_delay"), Ok(Command::Load { names: names() }));
        assert_eq!(command("unload --all"), Ok(Command::Unload { names: vec![] }));
        assert_eq!(command(""), Ok(Command::Help));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, expected) in [
            ("registre", "registre: no such command; allowed: list, check, hold, load, unload"),
            ("hold", "hold: give the names of controllers; see 'dumbbell-kernel list'"),
            ("hold --wait -1 bpf_vegas", "--wait: -1 is not a number of seconds of at least 0"),
            ("list bpf_vegas", "list: takes no names here, got bpf_vegas"),
            ("unload --all bpf_vegas", "unload: takes no names here, got bpf_vegas"),
            ("load --all", "load: --all does not belong here; see --help"),
            ("load --now x", "--now: no such option; see --help"),
        ] {
            assert_eq!(command(line), Err(expected.to_owned()), "{line}");
        }
    }
}
