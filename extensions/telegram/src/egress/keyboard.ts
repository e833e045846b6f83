import type { InlineKeyboardButton } from 'grammy/types';
import type { ApprovedMessage, Interaction } from 'sluice/channel';

/** Bytes that Telegram takes as the data of a button. */
const dataLimit = 64;
/** Buttons that Telegram takes under one message. */
const buttonLimit = 100;
/** Buttons that stand side by side, and characters of their labels together. */
const rowLimit = 4;
const rowLengthLimit = 28;

/** The keyboard of a message, as fields of the call that sends it; or why it cannot be shown. */
export type Keyboard =
  | { readonly fields: Readonly<Record<string, unknown>>; readonly problem?: undefined }
  | { readonly fields?: undefined; readonly problem: string };

/** Makes the keyboard of a message: buttons side by side where they fit, and each choice of a list in a row of its own. */
export function keyboardOf({ interactive }: Pick<ApprovedMessage, 'interactive'>): Keyboard {
  const { buttons = [], list } = interactive ?? {};
  const rows: InlineKeyboardButton.CallbackButton[][] = [];
  let lengthOfRow = Number.POSITIVE_INFINITY; // the first button begins a row
  for (const { id, label } of buttons) {
    const row = rows.at(-1);
    lengthOfRow += label.length;
    if (row === undefined || row.length >= rowLimit || lengthOfRow > rowLengthLimit) {
      rows.push([{ text: label, callback_data: dataOfButton(id) }]);
      lengthOfRow = label.length;
    } else row.push({ text: label, callback_data: dataOfButton(id) });
  }
  for (const { value, label } of list?.choices ?? [])
    rows.push([{ text: label, callback_data: dataOfChoice(list?.name ?? '', value) }]);
  const all = rows.flat();
  if (all.length === 0) return { fields: {} };
  if (all.length > buttonLimit)
    return {
      problem: `Telegram shows ${buttonLimit} buttons under a message, and it has ${all.length}`,
    };
  for (const { text, callback_data: data } of all) {
    const bytes = Buffer.byteLength(data);
    if (text.trim() === '') return { problem: 'Telegram shows no button without a label' };
    if (bytes === 0 || bytes > dataLimit)
      return {
        problem: `the button "${text}" needs ${bytes} bytes of data, and Telegram takes 1 to ${dataLimit}: give it another id`,
      };
  }
  return { fields: { reply_markup: { inline_keyboard: rows } } };
}

/** The data of a button is its id, unless that could be read as a choice. */
function dataOfButton(id: string): string {
  return id.startsWith('?') ? `?${id}` : id;
}

/** The data of a choice: `?list=value`. */
function dataOfChoice(name: string, value: string): string {
  return `?${name.replace(/[%?=]/g, encodeURIComponent)}=${value}`;
}

/** Reads the data of a button that was pressed. Data that is not of our making is the id of a button. */
export function pressOf(data: string): Pick<Interaction, 'kind' | 'name' | 'values'> {
  if (data.startsWith('??')) return { kind: 'button', name: data.slice(1), values: [] };
  const [, name, value] = /^\?([^?=]*)=(.*)$/s.exec(data) ?? [];
  if (name === undefined || value === undefined) return { kind: 'button', name: data, values: [] };
  return { kind: 'select', name: decoded(name), values: [value] };
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // another program has made it
  }
}
