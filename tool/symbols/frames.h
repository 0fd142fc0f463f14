/* ==== >> frames ====
 * Job: the text and the JSON of one frame.
 * Offers: text_frame_name, text_frame_file, text_frame_json, frame_has_line.
 * Never: looks anything up. */
#ifndef MACHSYM_TOOL_FRAMES_H
#define MACHSYM_TOOL_FRAMES_H

#include "machsym.h"
#include "../../report/base/text.h"
#include "source.h"

/* The name to show: the demangled linkage name, or the name. */
void text_frame_name(text *t, const machsym_frame *frame, const frame_style *style);
/* The file to show: its base name, or the whole path. */
void text_frame_file(text *t, const machsym_frame *frame, bool full_path);
bool frame_has_line(const machsym_frame *frame);
/* A frame as a JSON object, with its offset from the function's start. */
void text_frame_json(text *t, const machsym_frame *frame, uint64_t addr, const frame_style *style);

#endif
