import type { ApprovedMessage, Interaction } from 'sluice/channel';
import type { BlockActions } from '../ingress/update.js';
import type { Block } from '../text/blocks.js';

/** Elements of one `actions` block. */
const rowLimit = 25;
/** Characters that Slack takes, and choices. */
const limits = { label: 75, buttonValue: 2_000, choiceValue: 150, name: 240, choices: 100 };

/** The blocks of a message's buttons, list and form; or why they cannot be shown. */
type Elements =
  | { readonly blocks: readonly Block[]; readonly problem?: undefined }
  | { readonly blocks?: undefined; readonly problem: string };

/** Makes the blocks under a message: buttons in rows, a list as a menu, the fields of a form with a button of their own. */
export function elementsOf({ interactive }: Pick<ApprovedMessage, 'interactive'>): Elements {
  const { buttons = [], list, form } = interactive ?? {};
  const blocks: Block[] = [];
  let problem: string | undefined;
  const within = (what: string, text: string, limit: number): string => {
    if (text === '' || text.length > limit)
      problem ??= `${what} has ${text.length} characters, and Slack takes 1 to ${limit}`;
    return text;
  };
  const label = (of: string, text: string): Block => ({
    type: 'plain_text',
    text: within(`the label of ${of}`, text, limits.label),
  });
  const above = (text: string | undefined): void => {
    if (text !== undefined) blocks.push({ type: 'section', text: { type: 'plain_text', text } });
  };
  const named = (kind: 'list' | 'form', name: string): string =>
    `${kind}:${within(`the name of the ${kind}`, name, limits.name)}`;

  const pressed = buttons.map(({ id, label: text }, at) => ({
    type: 'button',
    action_id: `button:${at}`,
    text: label(`the button "${id}"`, text),
    value: within(`the id of the button "${text}"`, id, limits.buttonValue),
  }));
  for (let at = 0; at < pressed.length; at += rowLimit)
    blocks.push({ type: 'actions', elements: pressed.slice(at, at + rowLimit) });
  if (list !== undefined) {
    const { length } = list.choices;
    if (length > limits.choices)
      problem ??= `Slack shows ${limits.choices} choices in a list, and it has ${length}`;
    above(list.label);
    const options = list.choices.map(({ value, label: text }) => ({
      text: label(`the choice "${value}"`, text),
      value: within(`the value of the choice "${text}"`, value, limits.choiceValue),
    }));
    const menu = { type: 'static_select', action_id: named('list', list.name), options };
    blocks.push({ type: 'actions', elements: [menu] });
  }
  if (form !== undefined) {
    above(form.label);
    for (const { name, label: text, isOptional = false } of form.fields)
      blocks.push({
        type: 'input',
        block_id: `field:${within(`the name of the field "${text}"`, name, limits.name)}`,
        label: label(`the field "${name}"`, text),
        optional: isOptional,
        element: { type: 'plain_text_input', action_id: 'value' },
      });
    const text = { type: 'plain_text', text: 'OK' };
    const send = { type: 'button', action_id: named('form', form.name), text };
    blocks.push({ type: 'actions', elements: [send] });
  }
  return problem === undefined ? { blocks } : { problem };
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
