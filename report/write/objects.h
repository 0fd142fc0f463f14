/* ==== >> write/objects ====
 * Job: puts members into frames that are JSON objects.
 * Offers: jsonframe_object, jsonframe_stackshot, jsonframe_metric.
 * Never: touches other bytes. */
#ifndef REPORT_WRITE_OBJECTS_H
#define REPORT_WRITE_OBJECTS_H

#include "../model/report.h"
#include "edit.h"

void jsonframe_object(writer *w, const report_frame *frame);
void jsonframe_stackshot(writer *w, const report_frame *frame);
void jsonframe_metric(writer *w, const report_frame *frame);

#endif
