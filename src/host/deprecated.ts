// Names of earlier versions. Each stands for the one that it names.

import type { TimelineCloudEvent } from './explain/cloud-event.js';
import type { TimelineCursor } from './explain/follow-journal.js';
import { type FoldedTimeline, foldTimeline, type TimelineSend } from './timeline/fold-timeline.js';
import { keepTimeline } from './timeline/keep-timeline.js';
import { readTimeline } from './timeline/read-timeline.js';
import type {
  AttemptEntry,
  AuditEntry,
  DispatchEntry,
  EntryContent,
  GapEntry,
  LaneEntry,
  LiveEntry,
  NewEntry,
  QuestionEntry,
  SendEntry,
  TimelineEntry,
  UpdateEntry,
} from './timeline/timeline-entry.js';
import {
  type TimelineListener,
  type TimelineRecorder,
  timelineRecorder,
} from './timeline/timeline-recorder.js';

/** @deprecated Use `TimelineEntry`. */
export type WayRecord = TimelineEntry;

/** @deprecated Use `EntryContent`. */
export type WayFact = EntryContent;

/** @deprecated Use `LiveEntry`. */
export type LiveFact = LiveEntry;

/** @deprecated Use `NewEntry`. */
export type NewFact = NewEntry;

/** @deprecated Use `UpdateEntry`. */
export type UpdateFact = UpdateEntry;

/** @deprecated Use `LaneEntry`. */
export type LaneFact = LaneEntry;

/** @deprecated Use `DispatchEntry`. */
export type DispatchFact = DispatchEntry;

/** @deprecated Use `AuditEntry`. */
export type AuditFact = AuditEntry;

/** @deprecated Use `QuestionEntry`. */
export type QuestionFact = QuestionEntry;

/** @deprecated Use `SendEntry`. */
export type SendFact = SendEntry;

/** @deprecated Use `AttemptEntry`. */
export type AttemptFact = AttemptEntry;

/** @deprecated Use `GapEntry`. */
export type GapFact = GapEntry;

/** @deprecated Use `TimelineListener`. */
export type WayListener = TimelineListener;

/** @deprecated Use `TimelineRecorder`. */
export type WayRecorder = TimelineRecorder;

/** @deprecated Use `TimelineCursor`. */
export type WayCursor = TimelineCursor;

/** @deprecated Use `TimelineCloudEvent`. */
export type WayCloudEvent = TimelineCloudEvent;

/** @deprecated Use `FoldedTimeline`. */
export type FoldedWay = FoldedTimeline;

/** @deprecated Use `TimelineSend`. */
export type WaySend = TimelineSend;

/** @deprecated Use `timelineRecorder`. */
export const wayRecorder = timelineRecorder;

/** @deprecated Use `keepTimeline`. */
export const keepWay = keepTimeline;

/** @deprecated Use `readTimeline`. */
export const readWay = readTimeline;

/** @deprecated Use `foldTimeline`. */
export const foldWay = foldTimeline;
