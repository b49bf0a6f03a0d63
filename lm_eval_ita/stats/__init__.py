"""Pure statistics, one file each."""
