import { createLogger, type LoggerOptions } from '../../host/logger';

function linesOf(options: LoggerOptions, use: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  use(createLogger({ ...options, write: (line) => lines.push(line) }));
  return lines;
}

describe('the logger', () => {
  it('leaves out what is below its level, and says nothing when silent', () => {
    const use = (logger: ReturnType<typeof createLogger>) => {
      logger.debug('one');
      logger.warn('two');
      logger.log('ERROR', 'three');
    };
    expect(linesOf({ level: 'warn' }, use)).toHaveLength(2);
    expect(linesOf({ level: 'silent' }, use)).toEqual([]);
  });

  it('writes one JSON object a line, with what an error says', () => {
    const [line = ''] = linesOf({ format: 'json' }, (logger) =>
      logger.error('broken\nhere', { run: 'r', error: new Error('why'), size: 3n }),
    );
    expect(line.trim()).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({ level: 'error', message: 'broken\nhere', run: 'r', size: '3', error: { message: 'why' } });
  });

  it('writes fields behind the message for people', () => {
    const [line] = linesOf({}, (logger) => logger.info('started', { port: 4747, name: 'a b' }));
    expect(line).toMatch(/ info {2}started port=4747 name="a b"\n$/);
  });

  it.each(['text', 'json'] as const)('does not throw on what JSON cannot hold (%s)', (format) => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const [line] = linesOf({ format }, (logger) => logger.info('round', { circle }));
    expect(line).toContain('round');
  });
});
