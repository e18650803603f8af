"""Controller that works for one second and then misbehaves by its parameter `mode`."""

import math
import os
from typing import ClassVar, Literal

from dumbbell.plugins import Ack, Control, Loss, Start

Mode = Literal[
    "fine",
    "raise",
    "hang",
    "exit",
    "crash",
    "zero",
    "negative",
    "nan",
    "text",
    "truth",
    "pacing",
    "past",
    "field",
    "value",
    "sum",
]


class Bad:
    """A controller that does something wrong."""

    FIELDS: ClassVar[dict[str, str]] = {"level": "bytes"}

    def __init__(
        self,
        start: Start,
        mode: Mode = "fine",
        scale: float = 1.0,
        times: int = 1,
        loud: bool = False,
        table: bytes | None = None,
    ) -> None:
        if mode == "sum" and table is None:
            raise ValueError("no table was named")
        self.mode, self.table, self.now_s, self.factor = mode, table, 0.0, scale * times * (2 if loud else 1)

    def on_ack(self, ack: Ack) -> None:
        self.now_s = ack.now_s
        if self.is_time("raise"):
            raise ZeroDivisionError("by zero")
        if self.is_time("exit"):
            os._exit(3)
        if self.is_time("crash"):
            os.abort()
        while self.is_time("hang"):
            pass

    def on_loss(self, loss: Loss) -> None:
        self.now_s = loss.now_s

    def is_time(self, mode: Mode) -> bool:
        return self.mode == mode and self.now_s > 1.0

    def control(self) -> object:
        if self.is_time("text"):
            return "a lot"
        if self.is_time("truth"):
            return True
        if self.is_time("pacing"):
            return Control(20000.0, 0.0)
        if self.is_time("past"):
            return Control(20000.0, wake_at_s=self.now_s - 0.1)
        wrong = {"zero": 0, "negative": -1448.0, "nan": math.nan}
        if self.mode in wrong and self.now_s > 1.0:
            return wrong[self.mode]
        return 1000.0 * sum(self.table) if self.table else 20000.0 * self.factor

    def fields(self) -> dict[str, object]:
        if self.is_time("field"):
            return {"lever": 1.0}
        return {"level": "high" if self.is_time("value") else self.now_s}
