"""Translating a benchmark into Italian, and checking translations."""
