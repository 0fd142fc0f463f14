/* ==== >> frames ====
 * Job: the text and the JSON of one frame.
 * Offers: frame_put_name, frame_put_file, frame_put_json, frame_has_line.
 * Never: looks anything up. */
#ifndef MACHSYM_TOOL_FRAMES_H
#define MACHSYM_TOOL_FRAMES_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "source.h"

/* The name to show: the demangled linkage name, or the name. */
void frame_put_name(text *t, const machsym_frame *frame, const frame_style *style);
/* The file to show: its base name, or the whole path. */
void frame_put_file(text *t, const machsym_frame *frame, bool full_path);
bool frame_has_line(const machsym_frame *frame);
/* A frame as a JSON object, with its offset from the function's start. */
void frame_put_json(text *t, const machsym_frame *frame, uint64_t addr, const frame_style *style);

#endif
