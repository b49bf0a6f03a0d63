"""Pure metrics, one file each."""
