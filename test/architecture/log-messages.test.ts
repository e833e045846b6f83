import { describe, expect, it } from 'vitest';
import { foreignTextsInLogs } from '../support/log-messages.js';
import { sourceFiles } from '../support/source-tree.js';

/** A file of one statement. Its templates are written with `#{`, which is no template of this file. */
const sourceOf = (statement: string) => ({
  path: 'a.ts',
  text: statement.replaceAll('#{', '$' + '{'),
});

describe('M3: the message of a log entry is in the words of whoever logs it (§20.3)', () => {
  it('puts no text of an error, a reason or a message into `msg`, in the core and in the packages', () => {
    const files = sourceFiles('src', 'extensions').filter(({ path }) => /(^|\/)src\//.test(path));
    expect(files.length).toBeGreaterThan(300);
    expect(files.flatMap(foreignTextsInLogs)).toEqual([]);
  });

  it.each([
    ['an error, made a line', 'logger.error(`it failed: #{oneLine(error)}`);'],
    ['an error, as text', 'this.#logger.warn(`it failed: #{String(error)}`);'],
    ['the text of an error', 'parts.logger.warn(`it failed: #{error.message}`);'],
    ['a reason', 'own.log.info(`it was refused: #{answer.reason}`);'],
    ['a text that is chosen before', 'log.error(`it failed at "#{phase}": #{why}`);'],
    ['a text that is added', 'log.error("it failed: " + why);'],
    ['a text alone', 'log.error(error.message);'],
    ['a text under a condition', 'log.error(`it failed#{why ? `: #{why}` : ""}`);'],
    ['a content', 'api.log.debug(`said #{payload.content}`);'],
  ])('finds %s', (_, source) => {
    expect(foreignTextsInLogs(sourceOf(source))).toHaveLength(1);
  });

  it.each([
    'logger.error("it failed", { error });',
    'logger.warn(`#{extensionId}/#{contributionId} on "#{family}" was late by #{lateMs} ms`);',
    'logger.info(`#{extensionId} is #{isKept ? "kept" : "disabled"}`);',
    'const info = (message, fields) => logger.info(message, { ...ids, ...fields });',
  ])('lets ids, names and numbers pass: %s', (source) => {
    expect(foreignTextsInLogs(sourceOf(source))).toEqual([]);
  });
});
