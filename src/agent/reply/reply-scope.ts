import type { RunTexts } from './run-texts.js';
import type { ToolScope } from './tools/tool-replies.js';

/** The parts of a run's replies that all of them share. */
export interface ReplyScope extends ToolScope {
  readonly texts: RunTexts;
}
