"""Function, file, line and inline chain for addresses of iPhone and Mac programs.

    import machsym
    with machsym.open("App.app.dSYM") as app:
        for frames in app.lookup([0x102a309b6, 0x102a30aef], load=0x102a30000):
            for f in frames:
                print(f.name, f.file, f.line)

`open` opens a Mach-O file or a .dSYM bundle as an `Image`, a .symmap as a `Map`; both answer in the same way. Any number of
threads may share them; a `Session` works for one thread at a time, others wait. Addresses are those of the file, or, with
`load`, those of a process that loaded the image there. Subtract 1 from return addresses before.
"""
from ._core import (
    ArchError,
    Error,
    Frame,
    Image,
    Info,
    Lines,
    Map,
    MissingError,
    Session,
    Slice,
    demangle,
    open,
    slices,
    version,
)
from ._reports import Failure, Report, ReportFrame, ReportImage, Symbolicated, Symbols, symbolicate

__all__ = ["ArchError", "Error", "Failure", "Frame", "Image", "Info", "Lines", "Map", "MissingError", "Report", "ReportFrame",
           "ReportImage", "Session", "Slice", "Symbolicated", "Symbols", "demangle", "open", "slices", "symbolicate", "version"]
__version__ = version()
