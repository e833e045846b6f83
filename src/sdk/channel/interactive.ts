import type { InteractiveElement } from '../stream/index.js';
import type { ApprovedMessage, Interaction, Interactive } from './message.js';

/** The use of a button or of a choice, as `interaction.*` tell of it. */
export type Press = Pick<Interaction, 'kind' | 'name' | 'values'>;

/** A button or a choice with its number in the text of its message, from 1. */
export interface NumberedPress {
  readonly number: number;
  readonly label: string;
  readonly press: Press;
}

/**
 * Numbers the buttons of a message and the choices of its list, in the order in which its text has them.
 *
 * @example
 * numberedPresses({ buttons: [{ id: 'yes', label: 'Yes' }] }); // [{ number: 1, label: 'Yes', press: {...} }]
 */
export function numberedPresses({ buttons = [], list }: Interactive): readonly NumberedPress[] {
  const presses: readonly Omit<NumberedPress, 'number'>[] = [
    ...buttons.map(({ id, label }) => ({
      label,
      press: { kind: 'button' as const, name: id, values: [] },
    })),
    ...(list?.choices ?? []).map(({ value, label }) => ({
      label,
      press: { kind: 'select' as const, name: list?.name ?? '', values: [value] },
    })),
  ];
  return presses.map((one, at) => ({ number: at + 1, ...one }));
}

/**
 * Writes into the text of a message the elements that its channel does not show, as numbered lines (spec §14.16). A message
 * whose channel shows all of them stays as it is.
 *
 * @param shown the elements that the channel shows.
 */
export function withElementsAsText(
  message: ApprovedMessage,
  shown: readonly InteractiveElement[] = [],
): ApprovedMessage {
  const { interactive, ...rest } = message;
  if (interactive === undefined) return message;
  const left: Interactive = {};
  const written: Interactive = {};
  const { buttons, list, form } = interactive;
  if (buttons !== undefined) (shown.includes('buttons') ? left : written).buttons = buttons;
  if (list !== undefined) (shown.includes('list') ? left : written).list = list;
  if (form !== undefined) (shown.includes('form') ? left : written).form = form;
  const lines = linesOf(written).map((line) =>
    message.format === 'html' ? line.replace(/[&<>]/g, (sign) => entities[sign] ?? sign) : line,
  );
  const texts = [message.content, lines.join('\n')].filter((text) => text !== '');
  return Object.freeze({
    ...rest,
    content: texts.join('\n\n'),
    ...(Object.keys(left).length > 0 && { interactive: left }),
  });
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function linesOf(interactive: Interactive): readonly string[] {
  const { buttons = [], list, form } = interactive;
  const numbered = numberedPresses(interactive).map(({ number, label }) => `${number}) ${label}`);
  return [
    ...numbered.slice(0, buttons.length),
    ...(list?.label === undefined ? [] : [list.label]),
    ...numbered.slice(buttons.length),
    ...(form?.label === undefined ? [] : [form.label]),
    ...(form?.fields ?? []).map(
      ({ label, isOptional }) => `- ${label}${isOptional === true ? ' (optional)' : ''}`,
    ),
  ];
}
