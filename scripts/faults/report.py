"""What a scenario has found: figures to read, and what must hold."""


class Report:
    total_held = total_failed = 0

    def __init__(self, heading):
        print(f"== {heading}", flush=True)

    def figure(self, text):
        print(f"   {text}", flush=True)

    def must(self, holds, text):
        if holds:
            Report.total_held += 1
        else:
            Report.total_failed += 1
        print(f"   {'held  ' if holds else 'FAILED'} {text}", flush=True)
