import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome, Played } from '../../storm/record';
import { StormRecord } from '../../storm/record';
import { settingsIn, wordsOf } from '../../storm/settings';

const counts = {
  tasks: 10,
  timeouts: 1,
  failedTasks: 0,
  queries: 30,
  refused: 2,
  unanswered: 3,
  signals: 4,
  updates: 5,
  payments: 1,
  histories: 1,
};

const played = (seed: number, outcome: Outcome = 'same'): Played => ({
  seed,
  outcome,
  problems: outcome === 'same' ? [] : ['something'],
  agent: 'plain',
  seconds: 1,
  counts,
});

const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'holdfast-record-')), 'storm', 'seeds.jsonl');

it('a sitting at the same commit goes on behind the seeds that have a result, and sums both', () => {
  const file = newFile();
  const first = new StormRecord(file, 'abc', 'calm');
  expect(first.open(5, 4)).toEqual([5, 6, 7, 8]);
  first.add(played(5));
  first.add(played(7, 'stuck'));

  const second = new StormRecord(file, 'abc', 'calm');
  expect(second.open(5, 4)).toEqual([6, 8]);
  second.add(played(6));
  expect(second.summary).toEqual([
    'storm at abc: calm',
    'seed 7 (plain): stuck: something',
    '3 seeds: 2 same, 1 stuck, 0 unreplayable, 0 paid wrongly, 0 different, 0 broken',
    'counts: tasks 30, timeouts 3, failedTasks 0, queries 90, refused 6, unanswered 9, signals 12, updates 15, payments 3, histories 3',
  ]);
});

it('another commit or other conditions start anew, and leave the lines of before in the file', () => {
  const file = newFile();
  new StormRecord(file, 'abc', 'calm').add(played(0, 'different'));
  const next = new StormRecord(file, 'def', 'calm');
  expect(next.open(0, 1)).toEqual([0]);
  expect(next.bad).toEqual([]);
  next.add(played(0));
  expect(new StormRecord(file, 'abc', 'small cache').open(0, 1)).toEqual([0]);
  expect(new StormRecord(file, 'abc', 'calm').bad.map(({ seed }) => seed)).toEqual([0]);
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2);
});

it('a seed gets no second try, whatever its result is', () => {
  const file = newFile();
  new StormRecord(file, 'abc', 'calm').add(played(3, 'stuck'));
  expect(() => new StormRecord(file, 'abc', 'calm').add(played(3))).toThrow('Seed 3 has a result already.');
});

it('a line that was cut off with its sitting is no result, and spoils no later line', () => {
  const file = newFile();
  new StormRecord(file, 'abc', 'calm').add(played(0));
  appendFileSync(file, '{"seed":1,"outco');
  const next = new StormRecord(file, 'abc', 'calm');
  expect(next.open(0, 2)).toEqual([1]);
  next.add(played(1));
  expect(new StormRecord(file, 'abc', 'calm').open(0, 2)).toEqual([]);
});

it('the conditions of a storm are named whole, and how many runs play at once is none of them', () => {
  const words = (...given: readonly string[]): string => wordsOf(settingsIn(given, '/project').conditions);
  expect(words('--no-loops', '--at-once', '3')).toBe(words('--no-loops', '--seeds', '9'));
  expect(words('--no-loops', '--no-stops', '--no-kills', '--queries', 'none', '--cache', '4', '--task-timeout', '2s')).toBe(
    'workflow tasks of 2s, a cache of 4, no queries, idle cores, no stops, no kills',
  );
  expect(() => settingsIn(['--seeds', 'many'], '/project')).toThrow('--seeds takes a whole number. It is many.');
});
