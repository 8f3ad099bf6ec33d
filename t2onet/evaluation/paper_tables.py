"""The tables of "Learning by Planning: Language-Guided Global Image Editing" (CVPR 2021), as data.

Rows, columns and figures are the paper's; a system is named by the run that trains it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..errors import DataError

PaperFigures = Mapping[str, float]
"""Figures by the name of their column."""
SEED_INFIX = "-seed-"
"""Between the name of a run and the seed that it is repeated from."""


@dataclass(frozen=True)
class PaperPlans:
    """Plans to learn from, by the options of `t2o data plan`; without a name, those of the packed set."""

    name: str = ""
    operations: tuple[str, ...] = ()
    """All of them, if none is named."""
    steps: int = 6
    way: str = "joint"

    def to_options(self, prefix: str = "") -> list[str]:
        """Command line options: `--way`, or `--plan-way` with the prefix `plan-`."""
        options = [f"--{prefix}way", self.way]
        if self.operations:
            options += [f"--{prefix}operations", ",".join(self.operations)]
        if self.steps != PaperPlans.steps:
            options += [f"--{prefix}steps", str(self.steps)]
        return options


@dataclass(frozen=True)
class PaperRun:
    """A network to train: the name of its folder, its config, and changed settings."""

    name: str
    config: str
    settings: tuple[str, ...] = ()
    """As `name=value`."""
    plans: PaperPlans = PaperPlans()
    starts_from: PaperRun | None = None
    """A run whose best weights are the initial ones."""

    def with_seed(self, seed: int) -> PaperRun:
        """The same run and the one it starts from with another seed, in folders beside their own."""
        if seed == 0:
            return self
        starts_from = None if self.starts_from is None else self.starts_from.with_seed(seed)
        name, settings = f"{self.name}{SEED_INFIX}{seed}", (*self.settings, f"seed={seed}")
        return replace(self, name=name, settings=settings, starts_from=starts_from)


@dataclass(frozen=True)
class PaperRow:
    """A system by its name in the paper, with the paper's figures.

    It is a trained `run` or a `system` that needs none; a row with neither has only the paper's figures. All
    figures of a row are measured in its `mode`; a system with modes has a row for each.
    """

    title: str
    run: PaperRun | None = None
    system: str = ""
    mode: str = ""
    """`literal` or `expert`; empty for systems without modes."""
    paper: PaperFigures = field(default_factory=dict, hash=False)
    gier: PaperFigures = field(default_factory=dict, hash=False)
    planning: float | None = None
    """Cost of planning on the paper's train split, if the table has it."""


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper."""

    name: str
    title: str
    columns: tuple[str, ...]
    """The paper's columns."""
    rows: tuple[PaperRow, ...]
    reference: str
    """Title of the row that the others are compared with."""
    notes: tuple[str, ...] = ()
    """Differences from the paper in this table, besides those in all tables."""

    def list_runs(self) -> Iterator[PaperRun]:
        """The runs of its rows, each once and after the run it starts from."""
        runs: dict[str, PaperRun] = {}
        for run in (row.run for row in self.rows if row.run is not None):
            for needed in (run.starts_from, run):
                if needed is not None:
                    runs.setdefault(needed.name, needed)
        yield from runs.values()


L1, SSIM, FID, SIGMA, USERS = "L1", "SSIM", "FID", "sigma x 100", "users"
"""The paper's columns. Users rated edits from 1 to 5."""
DISTANCE_COLUMNS = (L1, SSIM, FID, SIGMA)

T2ONET_RUN = PaperRun("paper", "paper")
RL_RUN = PaperRun("rl", "rl")


def _make_variant_row(title: str, name: str, setting: str, *figures: float) -> PaperRow:
    """T2ONet trained with another setting."""
    return PaperRow(title, PaperRun(f"paper-{name}", "paper", (setting,)), paper=_label_figures(*figures))


def _make_gan_row(title: str, config: str, paper: Sequence[float], gier: Sequence[float]) -> PaperRow:
    run = PaperRun(config, config)
    return PaperRow(title, run, paper=_label_figures(*paper), gier=_label_figures(*gier))


def _make_run_with_plans(
    name: str, *settings: str, operations: tuple[str, ...] = (), way: str = "beam", steps: int = 6
) -> PaperRun:
    """T2ONet trained on its own plans, which have the same name."""
    return PaperRun(f"paper-{name}", "paper", settings, PaperPlans(name, operations, steps, way))


def _make_run_with_operations(name: str, operations: tuple[str, ...]) -> PaperRun:
    return _make_run_with_plans(name, f"operations={','.join(operations)}", operations=operations)


def _label_figures(*figures: float) -> PaperFigures:
    return dict(zip((*DISTANCE_COLUMNS, USERS), figures, strict=False))


_T2ONET_FIGURES = _label_figures(0.0784, 0.8459, 6.7571, 0.7190)
_RL_FIGURES = _label_figures(0.1007, 0.8283, 7.4896, 1.6175, 3.1968)
_RL_GIER_FIGURES = _label_figures(0.2286, 0.3832, 132.1785, 0.3978, 1.8462)
_INPUT_ROW = PaperRow("Input", system="identity", paper={L1: 0.1190})
_SCALAR_OPERATIONS = ("brightness", "contrast", "saturation", "sharpness")
_SINGLE_OPERATION_RUNS = {
    name: _make_run_with_operations(name, (name,)) for name in (*_SCALAR_OPERATIONS, "tone", "color")
}
_BEAM_RUN = _make_run_with_plans("beam")

MAIN_TABLE = PaperTable(
    "main",
    "Quantitative results",
    (*DISTANCE_COLUMNS, USERS),
    (
        PaperRow("Target", paper={USERS: 3.5053}, gier={USERS: 3.6331}),
        PaperRow(
            "Input",
            system="identity",
            paper={L1: 0.1190, SSIM: 0.7992, FID: 12.3714},
            gier={L1: 0.1079, SSIM: 0.8048, FID: 49.6229},
        ),
        _make_gan_row(
            "Bilinear GAN",
            "bilinear",
            (0.1559, 0.4988, 102.1330, 0.8031, 1.9468),
            (0.1918, 0.4395, 214.7331, 1.2164, 1.7988),
        ),
        _make_gan_row(
            "Pix2pixAug",
            "pix2pixaug",
            (0.0928, 0.7938, 14.5538, 0.5401, 3.0957),
            (0.1255, 0.7293, 74.7761, 1.2251, 2.5148),
        ),
        _make_gan_row(
            "SISGAN",
            "sisgan",
            (0.0979, 0.7938, 30.9877, 0.1659, 2.8032),
            (0.1180, 0.7300, 140.1495, 0.0198, 2.1243),
        ),
        _make_gan_row(
            "TAGAN",
            "tagan",
            (0.1335, 0.5429, 43.9463, 1.5552, 2.5691),
            (0.1202, 0.5777, 112.4168, 0.6073, 2.4970),
        ),
        _make_gan_row(
            "GeNeVa",
            "geneva",
            (0.0933, 0.7772, 33.7366, 0.6091, 3.0851),
            (0.1093, 0.7492, 87.0128, 0.5732, 2.7278),
        ),
        _make_gan_row("ManiGAN", "manigan", (0.1398, 0.5177, 157.4145), (0.1834, 0.4938, 234.6784)),
        PaperRow("RL", RL_RUN, paper=_RL_FIGURES, gier=_RL_GIER_FIGURES),
        PaperRow(
            "T2ONet",
            T2ONET_RUN,
            paper={**_T2ONET_FIGURES, USERS: 3.3830},
            gier=_label_figures(0.0997, 0.8160, 49.2049, 0.6226, 2.8994),
        ),
        PaperRow("default, expert", system="shipped", mode="expert"),
        PaperRow("default, literal", system="shipped", mode="literal"),
    ),
    reference="T2ONet",
    notes=(
        "default is what the package answered with when measured, in its modes; other systems have none.",
        "The paper's figures for ManiGAN stand in its appendix.",
    ),
)

IMAGE_LOSSES = PaperTable(
    "image-losses",
    "Different image losses",
    DISTANCE_COLUMNS,
    (
        _INPUT_ROW,
        _make_variant_row("none", "plans-only", "image_loss=none", 0.0949, 0.8300, 8.2482, 0.0532),
        PaperRow("L1", T2ONET_RUN, paper=_T2ONET_FIGURES),
        _make_variant_row(
            "adversarial", "adversarial", "image_loss=adversarial", 0.0901, 0.8031, 9.4600, 0.5825
        ),
        _make_variant_row("both", "both", "image_loss=both", 0.0801, 0.8464, 6.9436, 0.5671),
    ),
    reference="L1",
    notes=(
        "Discriminator: two scales of patches in the manner of pix2pixHD; the paper's figure is missing.",
    ),
)

SAMPLING_WIDTH = PaperTable(
    "sampling-width",
    "L1 and variance by the width of sampled parameters",
    DISTANCE_COLUMNS,
    (
        _INPUT_ROW,
        PaperRow("h = 0", T2ONET_RUN, paper=_T2ONET_FIGURES),
        _make_variant_row("h = 0.01", "h-0.01", "h=0.01", 0.0809, 0.8487, 7.2789, 1.1008),
        _make_variant_row("h = 0.1", "h-0.1", "h=0.1", 0.0979, 0.8090, 8.8763, 2.1482),
    ),
    reference="h = 0",
)

HISTORY = PaperTable(
    "history",
    "T2ONet without the image, the operation before, or attention",
    DISTANCE_COLUMNS,
    (
        _INPUT_ROW,
        _make_variant_row("w./o. image", "without-image", "image=false", 0.0863, 0.8332, 7.7869, 1.1950),
        _make_variant_row(
            "w./o. operation", "without-operation", "operation=false", 0.0837, 0.8424, 7.6559, 0.3257
        ),
        _make_variant_row(
            "w./o. attention", "without-attention", "attention=false", 0.1088, 0.8087, 8.4587, 0.8872
        ),
        PaperRow("full model", T2ONET_RUN, paper=_T2ONET_FIGURES),
    ),
    reference="full model",
)

OPERATION_SETS = PaperTable(
    "operation-sets",
    "Different operation sets and orders",
    (L1,),
    (
        _INPUT_ROW,
        PaperRow("1: brightness", _SINGLE_OPERATION_RUNS["brightness"], paper={L1: 0.1315}, planning=0.0521),
        PaperRow(
            "2: one parameter",
            _make_run_with_operations("one-parameter", _SCALAR_OPERATIONS),
            paper={L1: 0.0857},
            planning=0.0358,
        ),
        PaperRow(
            "3: fixed order",
            _make_run_with_plans("fixed-order", way="fixed"),
            paper={L1: 0.0832},
            planning=0.0198,
        ),
        PaperRow(
            "4: epsilon-greedy",
            _make_run_with_plans("epsilon-greedy", way="epsilon-greedy"),
            paper={L1: 0.0853},
            planning=0.0197,
        ),
        PaperRow("5: all, any order", _BEAM_RUN, paper={L1: 0.0770}, planning=0.0136),
        PaperRow("T2ONet", T2ONET_RUN),
    ),
    reference="5: all, any order",
    notes=(
        "Set 4: in 5 % of steps a random choice takes the place of the whole beam, so that the next step "
        "goes on from one picture; the paper does not say what becomes of the beam.",
        "Set 5 is the paper's T2ONet, which has an L1 of .0784 in its other tables. The last row is T2ONet "
        "of the other tables, on the plans in the packed set itself. Where these come from the same search, "
        "`--way beam`, both rows are runs of one config on the same plans and differ by chance alone.",
    ),
)

SINGLE_OPERATIONS = PaperTable(
    "single-operations",
    "A single operation",
    (L1,),
    (
        _INPUT_ROW,
        PaperRow("brightness", _SINGLE_OPERATION_RUNS["brightness"], paper={L1: 0.1315}, planning=0.0521),
        PaperRow("contrast", _SINGLE_OPERATION_RUNS["contrast"], paper={L1: 0.1178}, planning=0.0859),
        PaperRow("saturation", _SINGLE_OPERATION_RUNS["saturation"], paper={L1: 0.1163}, planning=0.1037),
        PaperRow("sharpness", _SINGLE_OPERATION_RUNS["sharpness"], paper={L1: 0.1256}, planning=0.1163),
        PaperRow("tone", _SINGLE_OPERATION_RUNS["tone"], paper={L1: 0.1006}, planning=0.0277),
        PaperRow("color", _SINGLE_OPERATION_RUNS["color"], paper={L1: 0.1129}, planning=0.0260),
        PaperRow("all six", T2ONET_RUN, paper={L1: 0.0784}),
    ),
    reference="all six",
)

_COSTS_BY_STEPS = (0.0256, 0.0145, 0.0139, 0.0137, 0.0136, 0.0136)


def _make_run_with_steps(number: int) -> PaperRun:
    if number == len(_COSTS_BY_STEPS):
        return _BEAM_RUN
    return _make_run_with_plans(f"steps-{number}", f"max_steps={number}", steps=number)


MAXIMUM_STEPS = PaperTable(
    "maximum-steps",
    "At most so many steps",
    (L1,),
    (
        _INPUT_ROW,
        *(
            PaperRow(str(number), _make_run_with_steps(number), planning=cost)
            for number, cost in enumerate(_COSTS_BY_STEPS, start=1)
        ),
    ),
    reference=str(len(_COSTS_BY_STEPS)),
    notes=("The paper has planning alone; networks that learn from such plans are ours.",),
)

RL_PRETRAINING = PaperTable(
    "rl-pretraining",
    "Reinforcement with and without plans before",
    DISTANCE_COLUMNS,
    (
        _INPUT_ROW,
        PaperRow("RL", RL_RUN, paper=_RL_FIGURES, gier=_RL_GIER_FIGURES),
        PaperRow(
            "RL after plans",
            PaperRun("rl-pretrained", "rl-pretrained", starts_from=T2ONET_RUN),
            paper=_label_figures(0.0955, 0.8330, 7.1413, 1.4672),
            gier=_label_figures(0.1052, 0.8075, 49.4183, 1.0949),
        ),
        PaperRow("T2ONet", T2ONET_RUN, paper=_T2ONET_FIGURES),
    ),
    reference="RL",
)

PAPER_TABLES: dict[str, PaperTable] = {
    table.name: table
    for table in (
        MAIN_TABLE,
        IMAGE_LOSSES,
        SAMPLING_WIDTH,
        HISTORY,
        OPERATION_SETS,
        SINGLE_OPERATIONS,
        MAXIMUM_STEPS,
        RL_PRETRAINING,
    )
}


def find_paper_table(name: str) -> PaperTable:
    if name not in PAPER_TABLES:
        raise DataError(f"there is no table {name!r}; there are {', '.join(PAPER_TABLES)}")
    return PAPER_TABLES[name]
