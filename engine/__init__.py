"""The engine's door: everything a front end may use. Nothing else of the engine is public."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from engine.config import Edge0Config as Edge0Config
from engine.config import GenerateOptions as GenerateOptions
from engine.errors import BudgetError as BudgetError
from engine.errors import ChatError as ChatError
from engine.errors import CheckpointError as CheckpointError
from engine.errors import ConfigError as ConfigError
from engine.errors import ContainerError as ContainerError
from engine.errors import ContextError as ContextError
from engine.errors import DownloadError as DownloadError
from engine.errors import Edge0Error as Edge0Error
from engine.errors import Stopped as Stopped
from engine.errors import StorageError as StorageError
from engine.errors import UnsupportedModelError as UnsupportedModelError
from engine.events import Finished as Finished
from engine.events import IoChoice as IoChoice
from engine.events import MemoryChange as MemoryChange
from engine.events import PrefillProgress as PrefillProgress
from engine.events import Progress as Progress
from engine.events import ReplyEvent as ReplyEvent
from engine.events import ReplyStats as ReplyStats
from engine.events import TextDelta as TextDelta
from engine.events import TimeSplit as TimeSplit
from engine.stop import StopFlag as StopFlag
from engine.text import Text as Text
from engine.text import text_from_record as text_from_record

if TYPE_CHECKING:
    from engine.chat.session import Session as Session
    from engine.chat.template import Message as Message
    from engine.doctor import DoctorOptions as DoctorOptions
    from engine.doctor import run_doctor as run_doctor
    from engine.doctor.exclusion import DefenderExclusion as DefenderExclusion
    from engine.doctor.exclusion import our_exclusions as our_exclusions
    from engine.doctor.outlook import forecast_from_json as forecast_from_json
    from engine.doctor.outlook import local_forecast as local_forecast
    from engine.doctor.outlook import outlook as outlook
    from engine.doctor.scan_stall import measure_stall as measure_stall
    from engine.doctor.survey import measure as measure_machine  # noqa: F401
    from engine.doctor.survey import survey as survey
    from engine.hub.token_store import TokenStore as TokenStore
    from engine.hub.unfinished import Unfinished as Unfinished
    from engine.hub.unfinished import drop_unfinished as drop_unfinished
    from engine.hub.unfinished import list_unfinished as list_unfinished
    from engine.hub.unfinished import receipt as receipt
    from engine.library import InstalledModel as InstalledModel
    from engine.library import inspect_model as inspect_model
    from engine.library import list_models as list_models
    from engine.library import models_dir as models_dir
    from engine.machine.defender_status import explanation as defender_explanation  # noqa: F401
    from engine.machine.memory import memory_now as memory_now
    from engine.prepare.prepare import prepare as prepare_model  # noqa: F401
    from engine.runtime import Edge0Runtime as Edge0Runtime
    from engine.starter import ensure_starter as ensure_starter
    from engine.store.cache_dir import forget_all as forget_all
    from engine.telemetry import Rates as Rates
    from engine.telemetry import Snapshot as Snapshot

# Loaded when first asked for: `import engine` stays quick, and errors and options need no numpy.
_LAZY = {
    "DefenderExclusion": "engine.doctor.exclusion",
    "DoctorOptions": "engine.doctor",
    "Edge0Runtime": "engine.runtime",
    "InstalledModel": "engine.library",
    "Message": "engine.chat.template",
    "Rates": "engine.telemetry",
    "Session": "engine.chat.session",
    "Snapshot": "engine.telemetry",
    "TokenStore": "engine.hub.token_store",
    "Unfinished": "engine.hub.unfinished",
    "defender_explanation": "engine.machine.defender_status",
    "drop_unfinished": "engine.hub.unfinished",
    "ensure_starter": "engine.starter",
    "forget_all": "engine.store.cache_dir",
    "forecast_from_json": "engine.doctor.outlook",
    "inspect_model": "engine.library",
    "list_models": "engine.library",
    "list_unfinished": "engine.hub.unfinished",
    "local_forecast": "engine.doctor.outlook",
    "measure_machine": "engine.doctor.survey",
    "measure_stall": "engine.doctor.scan_stall",
    "memory_now": "engine.machine.memory",
    "models_dir": "engine.library",
    "our_exclusions": "engine.doctor.exclusion",
    "outlook": "engine.doctor.outlook",
    "prepare_model": "engine.prepare.prepare",
    "receipt": "engine.hub.unfinished",
    "run_doctor": "engine.doctor",
    "survey": "engine.doctor.survey",
}
# plain where they are, clear at the door (and engine.prepare is a package of the engine)
_OTHER_NAMES = {
    "prepare_model": "prepare",
    "measure_machine": "measure",
    "defender_explanation": "explanation",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    value: object = getattr(import_module(_LAZY[name]), _OTHER_NAMES.get(name, name))
    globals()[name] = value
    return value
