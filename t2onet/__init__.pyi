# The public names and the modules that define them: read by type checkers, and by `__init__.py` at run time.

from .editor import Edit as Edit
from .editor import Editor as Editor
from .editor import edit as edit
from .editor.matching import match as match
from .errors import Cancelled as Cancelled
from .errors import DataError as DataError
from .errors import ImageError as ImageError
from .errors import LookError as LookError
from .errors import OutputError as OutputError
from .errors import PlaceError as PlaceError
from .errors import PlanError as PlanError
from .errors import RecipeError as RecipeError
from .errors import RequestError as RequestError
from .errors import ServerError as ServerError
from .errors import StudyError as StudyError
from .errors import T2OError as T2OError
from .errors import TrainingError as TrainingError
from .executor import apply as apply
from .executor import intermediates as intermediates
from .image import Image as Image
from .image import open_image as open_image
from .planning import Plan as Plan
from .planning import plan as plan
from .recipe import Mask as Mask
from .recipe import Recipe as Recipe
from .recipe import Step as Step

__version__: str
__all__: list[str]
