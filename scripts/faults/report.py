"""What a scenario has found: figures to read, and what must hold.

Figures are the machine's and decide nothing. What must hold is no matter of the clock: it is a
count, an answer, or a ratio to a control that was measured at the same time.
"""


class Report:
    held = failed = 0

    def __init__(self, heading: str) -> None:
        print(f"== {heading}", flush=True)

    def figure(self, text: str) -> None:
        print(f"   {text}", flush=True)

    def must(self, holds: object, text: str) -> None:
        if holds:
            Report.held += 1
        else:
            Report.failed += 1
        print(f"   {'held  ' if holds else 'FAILED'} {text}", flush=True)
