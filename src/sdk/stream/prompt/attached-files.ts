import type { PromptAttachment } from '../provider.js';

/** The part of a prompt that lists the attached files by name and place; no part if there are none. */
export function attachedFiles(attachments: readonly PromptAttachment[]): readonly string[] {
  if (attachments.length === 0) return [];
  const files = attachments.map(({ kind, name, path, url, mimeType }) =>
    ['-', kind, name, path ?? url, mimeType === undefined ? undefined : `(${mimeType})`]
      .filter((part) => part !== undefined)
      .join(' '),
  );
  return [`Attached files:\n${files.join('\n')}`];
}
