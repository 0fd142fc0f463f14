/* machsym - function, file, line and inline chain for addresses of iPhone and Mac programs, on any machine.
 *
 * One header, no dependency but the C library. MIT or public domain, at your choice: the texts are at the
 * end.
 *
 * machsym.h is joined from the rooms in src/ by src/join. Edit those, not the joined file.
 */

#include "api/manual.h"

#ifndef MACHSYM_H
#define MACHSYM_H

#include "api/options.h"
#include "api/api.h"

#endif /* MACHSYM_H */

/* ======================================================================================================== */
#if defined(MACHSYM_IMPLEMENTATION) && !defined(MACHSYM_IMPLEMENTED)
#define MACHSYM_IMPLEMENTED

#include "base/platform.h"
#include "base/bytes.h"
#include "base/reader.h"
#include "base/memory.h"
#include "base/segments.h"
#include "base/inflate.h"
#include "macho/cache.h"
#include "macho/slide.h"
#include "macho/macho.h"
#include "macho/files.h"
#include "macho/fixups.h"
#include "macho/code.h"
#include "macho/symbols.h"
#include "macho/others.h"
#include "macho/jumps.h"
#include "macho/pieces.h"
#include "macho/compact.h"
#include "macho/eh_frame.h"
#include "macho/unwind.h"
#include "macho/objc.h"
#include "macho/swift_types.h"
#include "macho/sources.h"
#include "unwind/registers.h"
#include "unwind/compact.h"
#include "unwind/expression.h"
#include "unwind/cfa.h"
#include "unwind/tables.h"
#include "unwind/path.h"
#include "unwind/arm64.h"
#include "unwind/x86_64.h"
#include "unwind/ahead.h"
#include "unwind/signal.h"
#include "unwind/step.h"
#include "dwarf/forms.h"
#include "dwarf/units.h"
#include "dwarf/lines.h"
#include "dwarf/functions.h"
#include "dwarf/bodies.h"
#include "dwarf/callsites.h"
#include "symmap/pack.h"
#include "symmap/pages.h"
#include "symmap/symmap.h"
#include "symmap/twins.h"
#include "image/cachefiles.h"
#include "image/sections.h"
#include "image/image.h"
#include "image/debugmap.h"
#include "answer/session.h"
#include "answer/objects.h"
#include "answer/views.h"
#include "answer/engine.h"
#include "answer/near.h"
#include "answer/answer.h"
#include "answer/folded.h"
#include "answer/stack.h"
#include "answer/iterate.h"
#include "answer/explain.h"
#include "map/encode.h"
#include "map/unwound.h"
#include "map/merge.h"
#include "map/settle.h"
#include "map/writer.h"
#include "map/folds.h"
#include "map/build.h"
#include "names/core.h"
#include "names/swift_nodes.h"
#include "names/swift_reader.h"
#include "names/swift_old.h"
#include "names/swift_symbols.h"
#include "names/swift_printer.h"
#include "names/rust.h"
#include "names/cxx_nodes.h"
#include "names/cxx_reader.h"
#include "names/cxx_printer.h"
#include "names/d.h"
#include "names/language.h"
#include "entrance.h"

#endif /* MACHSYM_IMPLEMENTATION */

/*
 * This software is available under two licenses. Choose whichever you like.
 *
 * ------------------------------------------------------------------------------
 * Alternative A: the MIT License
 *
 * Copyright (c) 2026 the machsym authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of
 * this software and associated documentation files (the "Software"), to deal in
 * the Software without restriction, including without limitation the rights to
 * use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies
 * of the Software, and to permit persons to whom the Software is furnished to do
 * so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 *
 * ------------------------------------------------------------------------------
 * Alternative B: the public domain (www.unlicense.org)
 *
 * This is free and unencumbered software released into the public domain.
 *
 * Anyone is free to copy, modify, publish, use, compile, sell, or distribute this
 * software, either in source code form or as a compiled binary, for any purpose,
 * commercial or non-commercial, and by any means.
 *
 * In jurisdictions that recognize copyright laws, the author or authors of this
 * software dedicate any and all copyright interest in the software to the public
 * domain. We make this dedication for the benefit of the public at large and to
 * the detriment of our heirs and successors. We intend this dedication to be an
 * overt act of relinquishment in perpetuity of all present and future rights to
 * this software under copyright law.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN
 * ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
 * WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
