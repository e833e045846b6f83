import { finalOnlyRule, finalRule, tagStage, thinkRule } from './tag-stage.js';

/** The tags and the code that a piece of text leaves open, so that the next piece is read as its continuation. */
export interface TagState {
  readonly thinking: boolean;
  readonly final: boolean;
  /** How many back-ticks opened the inline code that is open; 0 outside. */
  readonly ticks: number;
}

/** The state at the beginning of a message. */
export const noTags: TagState = { thinking: false, final: false, ticks: 0 };

/**
 * Takes a piece's thoughts and final tags out, outside of code. A code block has to be whole within the piece.
 *
 * @param finalOnly leaves only what stands between final tags.
 * @example
 * stripTags('<think>Hm.</think>Yes.', noTags, false).text; // 'Yes.'
 */
export function stripTags(
  piece: string,
  state: TagState,
  finalOnly: boolean,
): { text: string; state: TagState } {
  if (isPlain(piece, state, finalOnly)) return { text: piece, state };
  const think = tagStage(thinkRule, { isInside: state.thinking, ticks: state.ticks });
  const visible = think.push(piece) + think.finish();
  const final = tagStage(finalOnly ? finalOnlyRule : finalRule, {
    isInside: state.final,
    ticks: state.ticks,
  });
  const text = final.push(visible) + final.finish();
  const ticks = finalOnly ? ticksAfter(text, state.ticks) : final.place.ticks;
  return { text, state: { thinking: think.place.isInside, final: final.place.isInside, ticks } };
}

/** The inline code that is open after what was kept of a piece. */
function ticksAfter(text: string, ticks: number): number {
  const stage = tagStage(finalRule, { ticks });
  stage.push(text);
  stage.finish();
  return stage.place.ticks;
}

/** Nothing in it can open or close anything, and nothing is open. */
function isPlain(piece: string, state: TagState, finalOnly: boolean): boolean {
  return (
    !finalOnly &&
    !state.thinking &&
    !piece.includes('<') &&
    !piece.includes('`') &&
    !piece.includes('~~~')
  );
}
