import { Payments } from '../../bench/report/payments';
import type { Numbers, Results } from '../../bench/report/results';
import { parseResults } from '../../bench/report/results';
import { replaceSection, shortTable, shown, wholeTable } from '../../bench/report/table';

const numbers: Numbers = {
  coldStartMs: 812.4,
  sizes: [
    { turns: 100, turnMs: 3.256, keptBytes: 4321, writtenBytes: 12_345 },
    { turns: 400, turnMs: 3.5, keptBytes: 4400, writtenBytes: 12_500 },
  ],
  turnsPerSecond: 431.6,
  workerCpuMs: 1.25,
  storeCpuMs: 2.5,
  answerMs: 3.94,
  parkedKb: 43.21,
  recovery: { runs: 10, ended: 10, seconds: 1.234, askedAgain: 10, paidAgain: 0 },
};
const broken: Numbers = {
  ...numbers,
  sizes: [
    { turns: 100, turnMs: 9, keptBytes: 1, writtenBytes: 1 },
    { turns: 400, problem: 'too large' },
  ],
};
const results = (peers: Results['peers']): Results => ({ date: '2026-11-23', machine: '2 cores', versions: {}, peers });

const cellsOf = (table: string, title: string): readonly string[] =>
  (table.split('\n').find((line) => line.startsWith(`| ${title} `)) ?? '').split('|').map((cell) => cell.trim());

describe('the tables of the peers', () => {
  it('have a row for each peer that has a reason to be chosen', () => {
    const table = shortTable(results({ Ours: numbers, Theirs: broken, Others: numbers }), { Ours: 'it holds', Theirs: 'it breaks' });
    expect(cellsOf(table, 'Ours')).toEqual(['', 'Ours', '3.26', '4.32', '10 of 10', 'it holds', '']);
    expect(cellsOf(table, 'Theirs')[5]).toBe('it breaks');
    expect(table).not.toContain('Others');
    expect(new Set(table.split('\n').map((line) => line.length)).size).toBe(1);
  });

  it('have a row for each number, with a question mark where the CPU of the store cannot be seen', () => {
    const { storeCpuMs: _, ...remote } = numbers;
    const table = wholeTable(results({ Ours: numbers, Remote: remote }));
    expect(cellsOf(table, 'CPU ms a turn, 50 at once: worker + store').slice(2, 4)).toEqual(['1.25 + 2.5 = 3.75', '1.25 + ?']);
    expect(cellsOf(table, 'KB written a turn, run of 400').slice(2, 4)).toEqual(['12.5', '12.5']);
  });

  it('show three digits', () => {
    expect([0.1234, 1.256, 12.345, 1234.5, Number.NaN].map(shown)).toEqual(['0.12', '1.26', '12.3', '1,235', '?']);
  });

  it('take the place of what stood between their markers, and of nothing else', () => {
    const page = 'before\n<!-- peers: made by npm run bench -- peers -->\nold\n<!-- end of peers -->\nafter';
    expect(replaceSection(page, 'peers', 'new')).toBe(
      'before\n<!-- peers: made by npm run bench -- peers -->\n\nnew\n\n<!-- end of peers -->\nafter',
    );
    expect(() => replaceSection('no markers', 'peers', 'new')).toThrow('must have the markers');
  });
});

it('the numbers of the peers are read from a file only if they are complete', () => {
  const text = JSON.stringify(results({ Ours: numbers }));
  expect(parseResults(text).peers['Ours']).toEqual(numbers);
  expect(() => parseResults(text.replace('"answerMs":3.94', '"answerMs":null'))).toThrow('The numbers of Ours must be complete.');
  expect(() => parseResults('{}')).toThrow('must have peers');
});

it('the payments of the peers are made once for each key, and counted by what they were asked for', () => {
  const payments = new Payments();
  payments.take({ run: 'a', turn: 6, key: 'one' });
  payments.take({ run: 'a', turn: 6, key: 'one' });
  payments.take({ run: 'b', turn: 6, key: 'two' });
  expect([payments.askedIn(6), payments.askedAgain, payments.paidAgain]).toEqual([2, 1, 0]);
  payments.take({ run: 'b', turn: 6, key: 'another' });
  expect([payments.askedAgain, payments.paidAgain]).toEqual([2, 1]);
});
