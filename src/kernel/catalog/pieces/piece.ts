import { type Static, Type } from 'typebox';
import { flag, object, oneOf, optional, text } from './field.js';

const promptPiece = Type.Union([
  Type.String(),
  object({
    text: text('The piece.'),
    position: oneOf(['before', 'after'], 'Where it stands to the text that it joins.'),
  }),
]);

/** A piece of a prompt: a text, or a text with its place before or after what it joins. */
export type PromptPiece = Static<typeof promptPiece>;

/** Pieces of a prompt, as a field. */
export const promptPieces = (description: string) => Type.Array(promptPiece, { description });

/** Files of the workspace that go into the prompt, as a field. */
export const bootstrapFiles = (description: string) =>
  Type.Array(
    object({
      name: text('The name it goes by in the prompt.'),
      path: optional(text('Where it lies.')),
      content: optional(text('What it says.')),
      missing: optional(flag('It was looked for and is not there.')),
    }),
    { description },
  );
