"""Light and colour as a photographer would check them: a grey card, a grey ramp and a colour chart.

Measured in CIELAB by formulas written out here, not by those under test.
"""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

from t2onet.operations import get_operation
from t2onet.operations.colour import HUES

CHART = {
    "dark skin": (115, 82, 68),
    "light skin": (194, 150, 130),
    "blue sky": (98, 122, 157),
    "foliage": (87, 108, 67),
    "blue flower": (133, 128, 177),
    "bluish green": (103, 189, 170),
    "orange": (214, 126, 44),
    "purplish blue": (80, 91, 166),
    "moderate red": (193, 90, 99),
    "purple": (94, 60, 108),
    "yellow green": (157, 188, 64),
    "orange yellow": (224, 163, 46),
    "blue": (56, 61, 150),
    "green": (70, 148, 73),
    "red": (175, 54, 60),
    "yellow": (231, 199, 31),
    "magenta": (187, 86, 149),
    "cyan": (8, 133, 161),
    "white": (243, 243, 242),
    "grey 8": (200, 200, 200),
    "grey 6.5": (160, 160, 160),
    "grey 5": (122, 122, 121),
    "grey 3.5": (85, 85, 85),
    "black": (52, 52, 52),
}
"""The 24 patches of the ColorChecker in sRGB."""
PATCHES = np.array(list(CHART.values())) / 255
PURE = np.array([colorsys.hsv_to_rgb(hue / 360, 1, 1) for hue in HUES.values()])
RAMP = np.linspace(0, 1, 1001)[:, None].repeat(3, axis=1)
ZONES = ("highlights", "shadows", "whites", "blacks")


def edit(name: str, values: object, colours: np.ndarray) -> np.ndarray:
    """Colours (N, 3) after one step."""
    step = get_operation(name)
    return step(colours.T[:, None, :], np.array(step.check(values)))[:, 0].T


def to_light(colours: np.ndarray) -> np.ndarray:
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def to_display(light: np.ndarray) -> np.ndarray:
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def to_xyz(colours: np.ndarray) -> np.ndarray:
    matrix = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    return to_light(colours) @ np.transpose(matrix)


def to_lab(colours: np.ndarray) -> np.ndarray:
    ratio = to_xyz(colours) / to_xyz(np.ones((1, 3)))
    x, y, z = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio * (29 / 6) ** 2 / 3 + 4 / 29).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def measure_chroma(colours: np.ndarray) -> np.ndarray:
    return np.hypot(*to_lab(colours).T[1:])


def measure_uv(colours: np.ndarray) -> np.ndarray:
    """Chromaticity (u, v) of CIE 1960, in which black bodies are tabulated."""
    x, y, z = to_xyz(colours).T
    return np.stack([4 * x, 6 * y], axis=1) / (x + 15 * y + 3 * z)[:, None]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("highlights", 40),
        ("whites", 40),
        ("white_balance", [25, 0]),
        ("white_balance", [-25, 0]),
        ("vibrance", 40),
        ("mixer", {f"{hue}_saturation": 40 for hue in HUES}),
        ("mixer", {f"{hue}_lightness": 40 for hue in HUES}),
        ("grading", [220, 120, 30, 40, 40, 40, 0]),
    ],
)
def test_colours_a_level_apart_stay_close(name: str, values: object) -> None:
    """Light yellows are the hardest: their luminance leaves little choice of colour."""
    rng = np.random.default_rng(0)
    colours = np.concatenate([rng.integers(0, 255, (4000, 3)), rng.integers(200, 255, (4000, 3))])
    colours[4000:, 2] = rng.integers(0, 255, 4000)
    next_levels = colours + np.eye(3, dtype=int)[rng.integers(0, 3, 8000)]
    before, after = (to_lab(edit(name, values, levels / 255)) for levels in (colours, next_levels))
    assert np.linalg.norm(after - before, axis=1).max() < 9


class TestExposure:
    def test_a_stop_doubles_light_below_the_shoulder(self) -> None:
        light = np.linspace(0.001, 0.2, 50)[:, None].repeat(3, axis=1)
        after = to_light(edit("exposure", 1.0, to_display(light)))
        assert after == pytest.approx(2 * light, rel=0.01)

    def test_a_stop_less_halves_it_and_spares_white(self) -> None:
        light = np.linspace(0.001, 0.2, 50)[:, None].repeat(3, axis=1)
        assert to_light(edit("exposure", -1.0, to_display(light))) == pytest.approx(light / 2, rel=0.01)
        white = to_light(edit("exposure", -1.0, np.ones((1, 3))))
        assert (white > 0.6).all()
        assert (white < 0.9).all()

    @pytest.mark.parametrize("ev", [-5, -2, -0.5, 0.5, 2, 5])
    def test_tones_keep_their_order_and_black_stays(self, ev: float) -> None:
        tones = edit("exposure", ev, RAMP)[:, 0]
        assert (np.diff(tones) > 0).all()
        assert tones[0] == 0

    def test_white_stays_white_when_raised(self) -> None:
        assert edit("exposure", 3.0, np.ones((1, 3))) == pytest.approx(1)


class TestZones:
    @pytest.mark.parametrize("name", ZONES)
    @pytest.mark.parametrize("amount", [-100, -50, 50, 100])
    def test_greys_stay_grey_and_in_order(self, name: str, amount: float) -> None:
        tones = edit(name, amount, RAMP)
        assert np.ptp(tones, axis=1) == pytest.approx(0, abs=1e-9)
        assert (np.diff(tones[:, 0]) >= -1e-9).all()

    @pytest.mark.parametrize(("name", "low", "high"), [("highlights", 0, 40), ("shadows", 70, 100)])
    @pytest.mark.parametrize("amount", [-50, 50])
    def test_other_tones_move_by_less_than_half_a_unit(
        self, name: str, low: float, high: float, amount: float
    ) -> None:
        colours = np.concatenate([RAMP, PATCHES])
        before = to_lab(colours)[:, 0]
        inside = (before > low) & (before < high)
        moved = to_lab(edit(name, amount, colours))[:, 0] - before
        assert abs(moved[inside]).max() < 0.5
        assert abs(moved[~inside]).max() > 4

    @pytest.mark.parametrize(("name", "held", "moved"), [("whites", 0, 100), ("blacks", 100, 0)])
    @pytest.mark.parametrize("amount", [-100, 100])
    def test_whites_and_blacks_hold_the_other_end(
        self, name: str, held: float, moved: float, amount: float
    ) -> None:
        before, after = to_lab(RAMP)[:, 0], to_lab(edit(name, amount, RAMP))[:, 0]
        assert after[abs(before - held) < 50] == pytest.approx(before[abs(before - held) < 50], abs=0.5)
        near = abs(before - moved) < 15
        assert abs(after[near] - before[near]).max() > 5

    @pytest.mark.parametrize("name", ZONES)
    @pytest.mark.parametrize("amount", [-50, 50])
    def test_colours_keep_their_hue(self, name: str, amount: float) -> None:
        before, after = to_lab(PATCHES[:18]), to_lab(edit(name, amount, PATCHES[:18]))
        cosine = (before[:, 1:] * after[:, 1:]).sum(axis=1) / (
            np.hypot(*before.T[1:]) * np.hypot(*after.T[1:])
        )
        assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 8


class TestWhiteBalance:
    CARD = np.full((1, 3), 0.46)

    @pytest.mark.parametrize("temperature", [-100, -50, -20, 20, 50, 100])
    def test_temperature_moves_a_grey_card_along_the_black_bodies(self, temperature: float) -> None:
        after = edit("white_balance", {"temperature": temperature}, self.CARD)
        _, red, yellow = to_lab(after)[0]
        assert yellow * temperature > 0
        assert red > 0 if temperature > 0 else abs(red) < 2
        assert to_xyz(after)[0, 1] == pytest.approx(to_xyz(self.CARD)[0, 1], rel=0.01)
        moved = measure_uv(after) - measure_uv(self.CARD)
        kelvin = 1e6 / (1e6 / 6504 + temperature)
        expected = measure_black_body(kelvin) - measure_black_body(6504)
        assert moved[0] == pytest.approx(expected, abs=0.0025)

    @pytest.mark.parametrize("tint", [-100, -30, 30, 100])
    def test_tint_moves_a_grey_card_between_green_and_magenta(self, tint: float) -> None:
        after = edit("white_balance", {"tint": tint}, self.CARD)
        _, red, yellow = to_lab(after)[0]
        assert red * tint > 0
        assert abs(yellow) < 0.1 * abs(red)
        assert to_xyz(after)[0, 1] == pytest.approx(to_xyz(self.CARD)[0, 1], rel=0.01)

    @pytest.mark.parametrize("values", [[60, 0], [-60, 0], [0, 60], [0, -60]])
    def test_every_colour_keeps_its_luminance(self, values: list[float]) -> None:
        colours = np.concatenate([PATCHES, 0.75 * PURE])
        light = to_lab(colours)[:, 0] > 90  # cannot be displayed in every colour
        ratio = to_xyz(edit("white_balance", values, colours))[:, 1] / to_xyz(colours)[:, 1]
        assert ratio[~light] == pytest.approx(1, abs=0.01)
        assert ratio[light] == pytest.approx(1, abs=0.1)

    def test_pure_colours_keep_their_hue(self) -> None:
        primaries = np.eye(3)
        assert edit("white_balance", [60, 20], primaries) == pytest.approx(primaries, abs=1e-3)


def measure_black_body(kelvin: float) -> np.ndarray:
    """(u, v) of a black body, after Krystek (1985); within 1e-4 from 1,000 to 15,000 kelvin."""
    t = kelvin
    u = (0.860117757 + 1.54118254e-4 * t + 1.28641212e-7 * t**2) / (
        1 + 8.42420235e-4 * t + 7.08145163e-7 * t**2
    )
    v = (0.317398726 + 4.22806245e-5 * t + 4.20481691e-8 * t**2) / (
        1 - 2.89741816e-5 * t + 1.61456053e-7 * t**2
    )
    return np.array([u, v])


class TestVibrance:
    def test_muted_colours_gain_more_than_rich_ones(self) -> None:
        muted, rich = np.array([[0.45, 0.5, 0.55]]), np.array([[0.1, 0.3, 0.9]])
        gains = [measure_chroma(edit("vibrance", 60, c))[0] / measure_chroma(c)[0] for c in (muted, rich)]
        assert gains[0] > 1.4
        assert 1 < gains[1] < 1.15

    def test_skin_is_spared(self) -> None:
        skin, sky = PATCHES[:2], PATCHES[2:3]
        gain = measure_chroma(edit("vibrance", 60, skin)) / measure_chroma(skin)
        other = measure_chroma(edit("vibrance", 60, sky)) / measure_chroma(sky)
        assert (gain - 1 < 0.6 * (other - 1)).all()

    @pytest.mark.parametrize("amount", [-100, -50, 50, 100])
    def test_luminance_stays_and_greys_stay_grey(self, amount: float) -> None:
        after = edit("vibrance", amount, PATCHES)
        assert to_xyz(after)[:, 1] == pytest.approx(to_xyz(PATCHES)[:, 1], rel=0.01)
        assert edit("vibrance", amount, RAMP) == pytest.approx(RAMP, abs=1e-6)

    def test_richer_colours_stay_richer(self) -> None:
        shades = np.array([colorsys.hsv_to_rgb(0.6, s, 0.7) for s in np.linspace(0, 1, 101)])
        assert (np.diff(measure_chroma(edit("vibrance", 100, shades))) > 0).all()


HUE_CIRCLE = np.array([colorsys.hsv_to_rgb(h, s, 0.8) for s in (0.3, 0.6) for h in np.linspace(0, 1, 721)])


class TestMixer:
    @pytest.mark.parametrize("hue", HUES)
    @pytest.mark.parametrize("row", ["hue", "saturation", "lightness"])
    @pytest.mark.parametrize("amount", [-100, 100])
    def test_other_hues_keep_their_chroma(self, hue: str, row: str, amount: float) -> None:
        colours = np.concatenate([PURE, PATCHES[:18]])
        after = edit("mixer", {f"{hue}_{row}": amount}, colours)
        others = [not is_between_neighbours(colour, hue) for colour in colours]
        assert sum(others) > 10
        kept = measure_chroma(after)[others] / measure_chroma(colours)[others]
        assert kept == pytest.approx(1, abs=0.02)

    @pytest.mark.parametrize("at", range(8))
    def test_each_hue_does_what_it_says(self, at: int) -> None:
        hue, muted = list(HUES)[at], np.array([colorsys.hsv_to_rgb(list(HUES.values())[at] / 360, 0.6, 0.7)])
        light, *_ = to_lab(muted)[0]
        assert measure_chroma(edit("mixer", {f"{hue}_saturation": -100}, muted))[0] < 0.5
        assert measure_chroma(edit("mixer", {f"{hue}_saturation": 50}, muted)) > 1.1 * measure_chroma(muted)
        assert to_lab(edit("mixer", {f"{hue}_lightness": 60}, muted))[0, 0] > light + 3
        assert to_lab(edit("mixer", {f"{hue}_lightness": -60}, muted))[0, 0] < light - 5
        turned = edit("mixer", {f"{hue}_hue": 100}, muted)
        assert 3 < (measure_hue(turned[0]) - measure_hue(muted[0])) % 360 < 60

    @pytest.mark.parametrize("row", range(3))
    def test_greys_stay_grey(self, row: int) -> None:
        values = np.zeros((3, 8))
        values[row] = [100, -100, 100, -100, 100, -100, 100, -100]
        assert edit("mixer", values.tolist(), RAMP) == pytest.approx(RAMP, abs=1e-4)

    @pytest.mark.parametrize("row", ["hue", "saturation", "lightness"])
    @pytest.mark.parametrize("hue", HUES)
    def test_borders_are_soft(self, row: str, hue: str) -> None:
        """No step between neighbouring colours is many times what it was."""
        after = to_lab(edit("mixer", {f"{hue}_{row}": 100}, HUE_CIRCLE))
        steps = np.linalg.norm(np.diff(after.reshape(2, 721, 3), axis=1), axis=2)
        before = np.linalg.norm(np.diff(to_lab(HUE_CIRCLE).reshape(2, 721, 3), axis=1), axis=2)
        assert steps.max() < 4 * before.max()

    @pytest.mark.parametrize("hue", HUES)
    @pytest.mark.parametrize("amount", [-100, 100])
    def test_hues_hardly_change_places(self, hue: str, amount: float) -> None:
        after = to_lab(edit("mixer", {f"{hue}_hue": amount}, HUE_CIRCLE[:721]))
        turns = np.diff(np.unwrap(np.arctan2(after[:, 2], after[:, 1])))
        assert np.degrees(-turns[turns < 0].sum()) < 1.5

    def test_saturation_runs_into_no_wall(self) -> None:
        """Rich colours of one luminance differ after raising saturation if they did before."""
        red = to_light(np.array([0.8, 0.0, 0.1]))
        grey = red @ [0.2126, 0.7152, 0.0722]
        shades = to_display(grey + np.linspace(0.1, 1, 91)[:, None] * (red - grey))
        assert (np.diff(measure_chroma(edit("mixer", {"red_saturation": 100}, shades))) > 0).all()

    def test_noise_in_black_stays_dark(self) -> None:
        levels = np.array([[r, g, b] for r in range(4) for g in range(4) for b in range(4)]) / 255
        after = edit("mixer", {f"{hue}_lightness": 100 for hue in HUES}, levels)
        assert abs(after - levels).max() < 5 / 255


def is_between_neighbours(colour: np.ndarray, hue: str) -> bool:
    """Whether a colour lies between the two hues beside `hue`, and so may change with it."""
    centres = list(HUES.values())
    at = list(HUES).index(hue)
    before, after = centres[at - 1], centres[(at + 1) % len(centres)]
    return 0 < (measure_hue(colour) - before) % 360 < (after - before) % 360


def measure_hue(colour: np.ndarray) -> float:
    return 360 * colorsys.rgb_to_hsv(*colour)[0]


class TestGrading:
    GREYS = np.array([0.25, 0.5, 0.8])[:, None].repeat(3, axis=1)

    @pytest.mark.parametrize("hue", [0, 30, 60, 120, 180, 220, 300])
    @pytest.mark.parametrize("zone", range(3))
    def test_a_zone_gets_the_hue_it_names_at_kept_lightness(self, hue: float, zone: int) -> None:
        name = ("shadows", "midtones", "highlights")[zone]
        after = edit("grading", {f"{name}_hue": hue, f"{name}_strength": 40}, self.GREYS)
        lightness, *added = to_lab(after).T
        assert lightness == pytest.approx(to_lab(self.GREYS)[:, 0], abs=0.1)
        assert abs((measure_hue(after[zone]) - hue + 180) % 360 - 180) < 15
        strengths = np.hypot(*added)
        assert strengths.argmax() == zone
        assert strengths[zone] > 4

    def test_shadows_leave_light_tones_alone(self) -> None:
        light = np.full((1, 3), 0.9)
        after = edit("grading", {"shadows_hue": 220, "shadows_strength": 100}, light)
        assert measure_chroma(after)[0] < 1

    def test_black_stays_black_and_white_light(self) -> None:
        black, white = edit("grading", [30, 120, 220, 100, 100, 100, 0], np.array([[0.0] * 3, [1.0] * 3]))
        assert black == pytest.approx(0, abs=1e-6)
        assert to_lab(white[None])[0, 0] > 95

    @pytest.mark.parametrize("hue", range(0, 360, 30))
    def test_noise_in_black_hardly_grows(self, hue: float) -> None:
        levels = np.arange(6)[:, None].repeat(3, axis=1) / 255
        after = edit("grading", {"shadows_hue": hue, "shadows_strength": 100}, levels)
        assert np.ptp(after, axis=1).max() < 12 / 255

    def test_balance_moves_the_border(self) -> None:
        grey = np.full((1, 3), 0.5)
        low, middle, high = (
            measure_chroma(edit("grading", [0, 0, 30, 0, 0, 100, balance], grey))[0]
            for balance in (-100, 0, 100)
        )
        assert low < middle < high


class TestBlackAndWhite:
    def test_no_chroma_is_left_and_patches_keep_their_lightness(self) -> None:
        after = edit("black_and_white", 100, PATCHES)
        assert measure_chroma(after).max() < 0.05
        assert to_lab(after)[:, 0] == pytest.approx(to_lab(PATCHES)[:, 0], abs=0.5)

    def test_reds_do_not_glow(self) -> None:
        """A pure red is as dark as it looks, not as light as its brightest channel."""
        red, yellow = to_lab(edit("black_and_white", 100, np.array([[1.0, 0, 0], [1, 1, 0]])))[:, 0]
        assert red == pytest.approx(53, abs=1)
        assert yellow == pytest.approx(97, abs=1)

    @pytest.mark.parametrize("at", range(8))
    def test_the_mix_lightens_and_darkens_one_hue(self, at: int) -> None:
        hue = list(HUES)[at]
        before = to_lab(edit("black_and_white", 100, PURE * 0.7))[:, 0]
        for amount in (-100, 100):
            values = {"amount": 100, f"mix_{hue}": amount}
            moved = to_lab(edit("black_and_white", values, PURE * 0.7))[:, 0] - before
            assert moved[at] * amount > 0
            assert abs(moved[at]) > 8
            assert np.delete(moved, at) == pytest.approx(0, abs=0.5)

    def test_the_mix_leaves_greys_and_noise_in_black(self) -> None:
        values = {"amount": 100, **{f"mix_{hue}": 100 for hue in HUES}}
        assert edit("black_and_white", values, RAMP) == pytest.approx(RAMP, abs=1e-6)
        levels = np.array([[1.0, 0, 0], [0, 2, 1], [3, 0, 2]]) / 255
        assert edit("black_and_white", values, levels).max() < 4 / 255
