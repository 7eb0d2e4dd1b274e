"""What an instance prints: lines for its log, and how much of it belongs to activations that have not ended.

The runner writes a mark after each activation, but so can the function. A mark therefore only divides what was
printed into parts; which of them are past is for the gateway to say, which knows how many calls have ended.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from trimtab.live.runner import MARK

_LONGEST_LINE = 2_000
_LONGEST_REST = 65_536
_MOST_PARTS = 1_000
"""Marks after which the gateway is asked, however little was printed: a part is a number to keep."""
_MARK = MARK.rstrip()
"""At the end of an activation's output, perhaps behind a last line without an end."""


@dataclass
class Output:
    """One of the two streams of an instance."""

    stream: str
    limit: int
    """Bytes of activations that have not ended, their marks included."""
    parts: deque[int] = field(default_factory=lambda: deque([0]))
    """Bytes between marks, as far as they are not known to be past."""
    printed: int = 0
    """Their sum: what counts against the limit."""
    ended: int = 0
    """Activations whose part is past."""
    held: list[str] = field(default_factory=list)
    """Lines beyond the limit, shown if it turns out that they are not."""
    _rest: bytes = b""

    def add(self, data: bytes) -> list[str]:
        """Count what was read; the lines that are to be shown."""
        *lines, rest = (self._rest + data).split(b"\n")
        shown: list[str] = []
        for line in lines:
            told = line.removesuffix(_MARK)
            self._count(len(line) + 1)
            if told or told is line:
                text = told[:_LONGEST_LINE].decode(errors="replace")
                # behind a line that is held, all are, so that their order stays
                (shown if self.printed <= self.limit and not self.held else self.held).append(text)
            if len(told) < len(line):
                self.parts.append(0)
        if len(rest) > _LONGEST_REST:  # a line without an end
            self._count(len(rest) - len(_MARK))
            rest = rest[-len(_MARK) :]
        self._rest = rest
        return shown

    def _count(self, size: int) -> None:
        self.parts[-1] += size
        self.printed += size

    @property
    def doubtful(self) -> bool:
        """Whether it is too much, unless activations have ended in the meantime."""
        return self.excessive or len(self.parts) > _MOST_PARTS

    @property
    def excessive(self) -> bool:
        """Whether it is more than may be printed."""
        return self.printed + len(self._rest) > self.limit

    def settle(self, ended: int) -> list[str]:
        """So many activations have ended since the start: as many parts are past, and no more; lines to be shown.

        All that these wrote must have been added before. One that took its mark away has none to lose.
        """
        for _ in range(min(ended - self.ended, len(self.parts) - 1)):
            self.printed -= self.parts.popleft()
        self.ended = max(self.ended, ended)
        if len(self.parts) > _MOST_PARTS:  # nobody but a function that prints marks gets here
            self.parts = deque([self.printed])
        if self.excessive:
            return []
        shown, self.held = self.held, []
        return shown
