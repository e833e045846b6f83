import type { ReplyWording, ToolTraits } from './emit/reply-options.js';

/** Which of a call's arguments says what it is about, the most telling first. */
const tellingArguments = [
  'command',
  'path',
  'file_path',
  'url',
  'query',
  'pattern',
  'name',
  'action',
];
const longestDescription = 120;

/** The words for people, unless the host has its own. */
export const defaultWording: ReplyWording = {
  describeTool(_toolName, args) {
    if (typeof args !== 'object' || args === null) return undefined;
    for (const name of tellingArguments) {
      const value = (args as Readonly<Record<string, unknown>>)[name]; // an object by the test above
      if (typeof value !== 'string' || value.trim() === '') continue;
      const line = value.trim().replace(/\s+/g, ' ');
      return line.length > longestDescription ? `${line.slice(0, longestDescription)}…` : line;
    }
    return undefined;
  },
  summarizeTool(toolName, description, markdown) {
    if (description === undefined) return toolName;
    return markdown
      ? `${toolName}: \`${description.replaceAll('`', "'")}\``
      : `${toolName}: ${description}`;
  },
  cutMark: '[the rest was cut off]',
  formatAssistantErrorText: ({ errorMessage }) =>
    errorMessage?.trim() || 'The model could not answer.',
  formatErroredText: () => undefined,
  formatApproval: () => undefined,
};

/** The traits of tools, unless the host knows them better. */
export const defaultTraits: ToolTraits = {
  normalizeName: (toolName) => toolName.trim(),
  mayNameFiles: () => false,
  mutationOf: () => ({ mutatingAction: false }),
};
