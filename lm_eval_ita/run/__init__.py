"""Running evaluations: the demonstration now, the planned and resumable runner later."""
