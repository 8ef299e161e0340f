"""Trackers that follow a run beside its own `metrics.jsonl`. Each is an extra: pip install 'ssp[track]'."""
