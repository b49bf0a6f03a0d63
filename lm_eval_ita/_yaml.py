"""Reading YAML quickly."""

__all__ = ["FastLoader"]

# libyaml, where PyYAML was built with it, reads files twenty times faster; the two classes have the same interface.
try:
    from yaml import CSafeLoader as FastLoader
except ImportError:
    from yaml import SafeLoader as FastLoader  # type: ignore[assignment]
