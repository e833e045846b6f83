import type { ApprovedMessage, Interaction } from 'sluice/channel';
import type { BlockActions } from '../ingress/update.js';
import type { Block } from '../text/blocks.js';

/** Elements of one `actions` block. */
const rowLimit = 25;
/** Characters that Slack takes. */
const limits = { label: 75, buttonValue: 2_000, choiceValue: 150, name: 240, choices: 100 };

/** The blocks of a message's buttons, list and form; or why they cannot be shown. */
export type Elements =
  | { readonly blocks: readonly Block[]; readonly problem?: undefined }
  | { readonly blocks?: undefined; readonly problem: string };

const plain = (text: string): Block => ({ type: 'plain_text', text });
const label = (text: string): Block => ({ type: 'section', text: plain(text) });

/** Makes the blocks under a message: buttons in rows, a list as a menu, the fields of a form with a button of their own. */
export function elementsOf({ interactive }: Pick<ApprovedMessage, 'interactive'>): Elements {
  const { buttons = [], list, form } = interactive ?? {};
  const problem = problemOf(interactive);
  if (problem !== undefined) return { problem };
  const blocks: Block[] = [];
  for (let at = 0; at < buttons.length; at += rowLimit)
    blocks.push({
      type: 'actions',
      elements: buttons.slice(at, at + rowLimit).map(({ id, label: text }, index) => ({
        ...{ type: 'button', action_id: `button:${at + index}`, text: plain(text), value: id },
      })),
    });
  if (list !== undefined) {
    const options = list.choices.map(({ value, label: text }) => ({ text: plain(text), value }));
    if (list.label !== undefined) blocks.push(label(list.label));
    const menu = { type: 'static_select', action_id: `list:${list.name}`, options };
    blocks.push({ type: 'actions', elements: [menu] });
  }
  if (form !== undefined) {
    if (form.label !== undefined) blocks.push(label(form.label));
    for (const { name, label: text, isOptional } of form.fields)
      blocks.push({
        ...{ type: 'input', block_id: `field:${name}`, label: plain(text) },
        optional: isOptional === true,
        element: { type: 'plain_text_input', action_id: 'value' },
      });
    const send = { type: 'button', action_id: `form:${form.name}`, text: plain('OK') };
    blocks.push({ type: 'actions', elements: [send] });
  }
  return { blocks };
}

function problemOf(interactive: ApprovedMessage['interactive']): string | undefined {
  const { buttons = [], list, form } = interactive ?? {};
  const choices = list?.choices ?? [];
  const texts: readonly (readonly [what: string, text: string, limit: number])[] = [
    ...buttons.flatMap(({ id, label: text }) => [
      [`the label of the button "${id}"`, text, limits.label] as const,
      [`the id of the button "${text}"`, id, limits.buttonValue] as const,
    ]),
    ...choices.flatMap(({ value, label: text }) => [
      [`the label of the choice "${value}"`, text, limits.label] as const,
      [`the value of the choice "${text}"`, value, limits.choiceValue] as const,
    ]),
    ...(list === undefined ? [] : [['the name of the list', list.name, limits.name] as const]),
    ...(form === undefined ? [] : [['the name of the form', form.name, limits.name] as const]),
    ...(form?.fields ?? []).map(
      ({ name }) => [`the name of the field "${name}"`, name, limits.name] as const,
    ),
  ];
  if (choices.length > limits.choices)
    return `Slack shows ${limits.choices} choices in a list, and it has ${choices.length}`;
  const wrong = texts.find(([, text, limit]) => text === '' || text.length > limit);
  if (wrong === undefined) return undefined;
  const [what, text, limit] = wrong;
  return `${what} has ${text.length} characters, and Slack takes 1 to ${limit}`;
}

/** Reads a press. An element that is not of our making is a button with its own id. */
export function pressOf({
  actions,
  state,
}: BlockActions): Pick<Interaction, 'kind' | 'name' | 'values' | 'fields'> {
  const [{ action_id: id, value, selected_option: chosen } = { action_id: '' }] = actions;
  const [, kind, name = ''] = /^(list|form):(.*)$/s.exec(id) ?? [];
  if (kind === 'list') return { kind: 'select', name, values: chosen ? [chosen.value] : [] };
  if (kind === undefined) return { kind: 'button', name: value ?? id, values: [] };
  const entered = Object.entries(state?.values ?? {}).flatMap(([block, fields]) => {
    const field = /^field:(.*)$/s.exec(block)?.[1];
    const said = fields['value']?.value;
    return field === undefined || said === undefined ? [] : [{ name: field, value: said }];
  });
  return { kind: 'modal', name, values: [], fields: entered };
}
