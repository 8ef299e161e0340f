"""Every error this package raises on purpose, by the boundary at which it arose.

SspError
├── ConfigError          a setting, flag or preset is wrong
│   └── MissingExtra     the feature needs an optional dependency that is not installed
├── DataError            a file or directory is missing, malformed, damaged or in the way
├── SearchError          a search service or index could not answer
├── JudgeError           a judge could not give a verdict
├── ReaderError          a reader behind a service could not answer
├── EngineError          the sampler could not generate
│   └── EngineGone       a server of it does not answer; another one may
├── SickRun              a run was stopped by one of its alarms
└── LearnerError         the learner could not update, load or save

The message of each is one line that says what to do. The command line prints that line and exits with
code 2 (see ssp.cli.main); nothing else in the package catches SspError to hide it. An outage is never
turned into a score: callers record the error and leave the value undecided.
"""


class SspError(Exception):
    """Base of the tree; its message is one line for a person."""


class ConfigError(SspError):
    """A setting, flag or preset is wrong."""


class MissingExtra(ConfigError):
    """The feature needs an optional dependency that is not installed.

    >>> str(MissingExtra("dense", "dense search"))
    "dense search needs an optional dependency: pip install 'ssp[dense]'"
    """

    def __init__(self, extra: str, feature: str) -> None:
        super().__init__(f"{feature} needs an optional dependency: pip install 'ssp[{extra}]'")
        self.extra = extra


class DataError(SspError):
    """A file or directory is missing, malformed, damaged or in the way."""


class SearchError(SspError):
    """A search service or index could not answer."""


class JudgeError(SspError):
    """A judge could not give a verdict."""


class ReaderError(SspError):
    """A reader behind a service could not answer."""


class EngineError(SspError):
    """The sampler could not generate."""


class EngineGone(EngineError):
    """A server of the sampler does not answer; another one may, or the same one later."""


class SickRun(SspError):
    """A run was stopped by one of its alarms; everything up to then is saved."""


class LearnerError(SspError):
    """The learner could not update, load or save."""
