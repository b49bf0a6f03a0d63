"""Colours as red- and green-blind people see them, and how far apart they are."""

import numpy as np
import numpy.typing as npt

# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009),
# supplementary tables, severity 1.0. They apply to linear RGB.
SEEN: dict[str, list[list[float]]] = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
# IEC 61966-2-1 (sRGB to XYZ, white D65).
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(colour: str, vision: str = "normal") -> npt.NDArray[np.float64]:
    """CIE L*a*b* of "#RRGGBB" under a kind of colour vision."""
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    xyz = _XYZ @ np.clip(np.array(SEEN[vision]) @ linear, 0, 1)
    t = xyz / (_XYZ @ np.ones(3))
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one: str, two: str, vision: str) -> float:
    """The CIE 1976 difference of two colours."""
    return float(np.linalg.norm(lab(one, vision) - lab(two, vision)))
