// Names of earlier versions. Each stands for the one that it names.

import type { EntryKind } from './entry-kinds.js';
import type { Fence, UpdateFence } from './fence.js';

/** @deprecated Use `Fence`. */
export type Hold = Fence;

/** @deprecated Use `UpdateFence`. */
export type UpdateHold = UpdateFence;

/** @deprecated Use `EntryKind`. */
export type WayKind = EntryKind;
