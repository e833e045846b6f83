import type { Infer } from '../../schema/schema.js';
import * as f from './field.js';

const promptPiece = f.either([
  f.text(),
  f.object({
    text: f.text('The piece.'),
    position: f.oneOf(['before', 'after'], 'Where it stands to the text that it joins.'),
  }),
]);

/** A piece of a prompt: a text, or a text with its place before or after what it joins. */
export type PromptPiece = Infer<typeof promptPiece>;

/** Pieces of a prompt, as a field. */
export const promptPieces = (description: string) => f.list(promptPiece, description);

/** Files of the workspace that go into the prompt, as a field. */
export const bootstrapFiles = (description: string) =>
  f.list(
    f.object({
      name: f.text('The name it goes by in the prompt.'),
      path: f.optional(f.text('Where it lies.')),
      content: f.optional(f.text('What it says.')),
      missing: f.optional(f.flag('It was looked for and is not there.')),
    }),
    description,
  );
