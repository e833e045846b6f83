/** Everything that moves a cursor, colours, writes a title or rings, but the line end and the tab. */
const controls = /[^\P{Cc}\n\t]+/gu;

/**
 * Marks, embeddings, overrides and isolates: they show the text around them in another order than it is read by a program. The
 * deprecated controls U+206A to U+206F change the digits and the shapes of what follows.
 */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/gu;

/** The characters of both that JSON leaves as they are, and the two that end a line for some readers of JSON. */
const inJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/gu;

/**
 * A text that does nothing to the terminal it is printed on, and nothing to the order of the text beside it (spec §20.11): each
 * run of control characters but line ends and tabs is a space, and characters that turn the direction of writing are left out.
 *
 * @example
 * inertText('\u001b[2Jhello'); // ' [2Jhello'
 */
export function inertText(text: string): string {
  return text.replace(controls, ' ').replace(turning, '');
}

/**
 * JSON of the same value in which the characters that `inertText` takes out are written as escapes, and U+2028 and U+2029 as
 * well: some readers take them for the end of a line (spec §20.11).
 *
 * @param json one line of JSON, or several.
 * @example
 * inertJson('"\u202e"'); // '"\\u202e"'
 */
export function inertJson(json: string): string {
  return json.replace(inJson, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
