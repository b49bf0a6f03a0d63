"""The `lm-eval-ita` command: one small module per subcommand."""
