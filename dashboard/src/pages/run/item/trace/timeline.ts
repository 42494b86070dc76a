// The common time axis of a trace's spans.
import type { Span } from '../../../../api/types';

export interface Timeline {
  /** In milliseconds from the start of the execution. */
  startMs: number;
  /** At least one microsecond. */
  durationMs: number;
}

const MIN_DURATION_MS = 0.001;

/** From the start of the first span to the end of the last one. */
export function timelineOf(spans: Span[]): Timeline {
  let startMs = Number.POSITIVE_INFINITY;
  let endMs = Number.NEGATIVE_INFINITY;
  for (const span of spans) {
    startMs = Math.min(startMs, span.startMs);
    endMs = Math.max(endMs, span.startMs + span.durationMs);
  }
  if (!Number.isFinite(startMs) || !Number.isFinite(endMs))
    return { startMs: 0, durationMs: MIN_DURATION_MS };
  return { startMs, durationMs: Math.max(endMs - startMs, MIN_DURATION_MS) };
}

/** Where a span is on the axis, in percent of its length. */
export function barOf(span: Span, { startMs, durationMs }: Timeline): { left: number; width: number } {
  const percent = (ms: number) => Math.min(Math.max((100 * ms) / durationMs, 0), 100);
  const left = percent(span.startMs - startMs);
  return { left, width: Math.min(percent(span.durationMs), 100 - left) };
}
