import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type DoorPlace, readDoor } from '../../extensions/guard/src/door/place.js';
import { CliProcess, root } from '../cli/cli.js';
import { type BotApiServer, botApiServer, testToken } from './bot-api/bot-api.js';
import { messageUpdate, pressUpdate } from './bot-api/updates.js';
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.js';

/** A project whose guard is a process of its own, and asks Ada on a Telegram of loopback. */
export class GuardProcess implements AsyncDisposable {
  readonly folder: TemporaryFolder;
  readonly bot: BotApiServer;
  #cli: CliProcess | undefined;
  #updates = 100;

  private constructor(folder: TemporaryFolder, bot: BotApiServer) {
    this.folder = folder;
    this.bot = bot;
  }

  /** Makes the project, and starts its guard. */
  static async start(policies: string): Promise<GuardProcess> {
    const bot = await botApiServer();
    const ask = { channel: 'telegram', to: 'telegram:42', of: { sender: '42' } };
    const guard = { policies: ['./policies.yaml'], port: 0, ask };
    const config = {
      channels: ['guard', 'telegram'],
      extensions: [
        { path: 'sluice-guard', required: true, config: guard },
        { path: 'sluice-telegram', config: { apiRoot: bot.url, allowFrom: [42, 66] } },
      ],
      grants: { guard: ['dispatch:*'] },
      journal: { path: './guard.db' },
    };
    const folder = temporaryFolder({
      '.sluice/policies.yaml': policies,
      '.sluice/guard.config.json': JSON.stringify(config),
    });
    symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
    const guarded = new GuardProcess(folder, bot);
    await guarded.run();
    return guarded;
  }

  /** The folder of the token. */
  get place(): string {
    return join(this.folder.path, '.sluice/guard');
  }

  get journal(): string {
    return join(this.folder.path, '.sluice/guard.db');
  }

  /** Runs the guard, and waits until it listens. */
  async run(): Promise<void> {
    const cli = new CliProcess(['guard', 'run'], {
      cwd: this.folder.path,
      env: { TELEGRAM_BOT_TOKEN: testToken, USER: 'ada' },
    });
    this.#cli = cli;
    await cli.until('the guard listens');
    await cli.until('takes messages');
  }

  door(): Promise<DoorPlace> {
    return readDoor(this.place);
  }

  /** Ends the guard as if its machine had lost its power. */
  async kill(): Promise<void> {
    this.#cli?.child.kill('SIGKILL');
    await this.#cli?.ended;
  }

  /** Ends the guard as Ctrl-C does. @returns all that it has said. */
  async stop(): Promise<{ readonly code: number | null; readonly stderr: string }> {
    if (this.#cli === undefined) throw new Error('no guard was started');
    this.#cli.child.kill('SIGTERM');
    return this.#cli.ended;
  }

  /** The questions that people see. */
  get questions(): readonly string[] {
    return this.bot.shown.map(({ text }) => text).filter((text) => text.includes('(rule '));
  }

  /** Somebody presses a button of the newest question. */
  press(label: string, from?: object): void {
    const markup = this.bot.of('sendMessage').at(-1)?.payload['reply_markup'];
    const { inline_keyboard: rows } = Object(
      typeof markup === 'string' ? JSON.parse(markup) : markup,
    );
    const button = [rows].flat(2).find(({ text }) => text === label);
    if (button === undefined) throw new Error(`no question has a button "${label}"`);
    const more = from === undefined ? {} : { from };
    this.bot.give(pressUpdate({ updateId: ++this.#updates, data: button.callback_data, more }));
  }

  /** Ada writes. */
  say(text: string): void {
    this.bot.give(messageUpdate({ updateId: ++this.#updates, text }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.bot[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}
