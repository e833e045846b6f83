import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pinoLogger } from '../../../src/host/logging/pino-logger.js';
import { withoutSecrets } from '../../../src/journal/internal.js';

describe('a structured log (§20.3)', () => {
  it('is a line of JSON per entry, from its level on', () => {
    const lines: string[] = [];
    const logger = pinoLogger({ level: 'warn', write: (line) => lines.push(line) });
    logger.info('not this');
    logger.warn('this', { family: 'egress.preparing', detail: 'a text of somebody' });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'warn',
      time: expect.any(Number),
      family: 'egress.preparing',
      msg: 'this',
    });
  });

  it('tells the causes of an error at level debug, and no text of them at any other', () => {
    const error = new Error('cannot connect', { cause: new TypeError('refused by 10.0.0.7') });
    const told = (level: 'debug' | 'info'): string => {
      const lines: string[] = [];
      pinoLogger({ level, write: (line) => lines.push(line) }).warn('this', { error });
      return lines.join('');
    };
    expect(JSON.parse(told('debug'))).toMatchObject({
      error: {
        message: 'cannot connect',
        cause: { type: 'TypeError', message: 'refused by 10.0.0.7' },
      },
    });
    expect(told('info')).not.toMatch(/connect|refused/);
  });

  it('ends with a cause that is its own', () => {
    const lines: string[] = [];
    const error = new Error('round');
    error.cause = error;
    pinoLogger({ level: 'debug', write: (line) => lines.push(line) }).warn('this', { error });
    expect(lines.join('').match(/round/g)).toHaveLength(5);
  });

  it('has no secret in any line, at any level, however it is escaped', () => {
    const text = fc.string({ minLength: 6, maxLength: 30 }).filter((one) => one.trim().length >= 6);
    fc.assert(
      fc.property(text, fc.string(), (secret, around) => {
        fc.pre(
          !'"level":"debug","time":"detail""msg""one thing"[secret]{}1234567890'.includes(secret),
        );
        const lines: string[] = [];
        const logger = pinoLogger({
          level: 'debug',
          secrets: [secret],
          write: (line) => lines.push(line),
        });
        logger.error(`one thing ${secret}`, {
          detail: `${around}${secret}${around}`,
          error: new Error(secret),
        });
        const written = lines.join('');
        expect(written).not.toContain(secret);
        expect(written).not.toContain(JSON.stringify(secret).slice(1, -1));
      }),
    );
  });

  it('leaves words alone that are too short for a secret', () => {
    expect(withoutSecrets(['a', 'error'])('an error')).toBe('an error');
    expect(withoutSecrets(['hunter2', 'hunter22'])('hunter22, hunter2')).toBe('[secret], [secret]');
  });
});
