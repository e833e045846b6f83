import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type DoorPlace, readDoor } from '../../extensions/guard/src/door/place.js';
import { CliProcess, type Ended, root } from '../cli/cli.js';
import { type BotApiServer, botApiServer, testToken } from './bot-api/bot-api.js';
import { messageUpdate, pressUpdate } from './bot-api/updates.js';
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.js';

const ask = { channel: 'telegram', to: 'telegram:42', of: { sender: '42' } };

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

  /** Makes a project by `sluice guard init`, lets its guard ask in Telegram as the page tells, and starts it. */
  static async start(policies: string): Promise<GuardProcess> {
    const bot = await botApiServer();
    const folder = temporaryFolder({ '.sluice/policies.yaml': policies });
    symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
    const guarded = new GuardProcess(folder, bot);
    await guarded.#init();
    const [port, config] = [await freePort(), guarded.config()];
    const [guard, ...others] = config.extensions;
    guarded.#write({
      ...config,
      channels: ['guard', 'telegram'],
      extensions: [
        { ...guard, config: { ...guard.config, port, ask } },
        ...others,
        { path: 'sluice-telegram', config: { apiRoot: bot.url, allowFrom: [42, 66] } },
      ],
    });
    await guarded.#init(); // the hooks call the port of the config
    await guarded.run();
    return guarded;
  }

  async #init(): Promise<void> {
    const { code, stderr } = await this.sluice('guard', 'init', '--agent', 'claude');
    if (code !== 0) throw new Error(stderr);
  }

  /** Runs a command in the project. */
  sluice(...args: readonly string[]): Promise<Ended> {
    return new CliProcess(args, { cwd: this.folder.path }).ended;
  }

  /** The config of the guard. */
  config() {
    return JSON.parse(readFileSync(this.#configFile, 'utf8'));
  }

  #write(config: object): void {
    writeFileSync(this.#configFile, JSON.stringify(config));
  }

  get #configFile(): string {
    return join(this.folder.path, '.sluice/guard.config.json');
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  server.close();
  return port;
}
