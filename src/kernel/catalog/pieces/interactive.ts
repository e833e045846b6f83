import { Type } from 'typebox';
import { flag, object, optional, text } from './field.js';

const button = object({
  id: text('The `name` of the interaction that a press makes.'),
  label: text('The text on it.'),
});

const choice = object({
  value: text('The value of the interaction that choosing it makes.'),
  label: text('The text that people see.'),
});

const list = object(
  {
    name: text('The `name` of the interaction that a choice makes.'),
    label: optional(text('The text above it.')),
    choices: Type.Array(choice, {
      minItems: 1,
      description: 'The choices, in order: one is made.',
    }),
  },
  'A list to choose one from.',
);

const formField = object({
  name: text('The name of the field in the interaction that the form makes.'),
  label: text('The text beside it.'),
  isOptional: optional(flag('It may be left empty.')),
});

const form = object(
  {
    name: text('The `name` of the interaction that sending the form makes.'),
    label: optional(text('The text above it.')),
    fields: Type.Array(formField, { minItems: 1, description: 'The fields, in order.' }),
  },
  'A form to fill in.',
);

/** The buttons, the list and the form of a message (spec §14.16), as a field. */
export const interactive = (description: string) =>
  object(
    {
      buttons: optional(Type.Array(button, { minItems: 1, description: 'The buttons, in order.' })),
      list: optional(list),
      form: optional(form),
    },
    description,
  );
