import { DBOS } from '@dbos-inc/dbos-sdk';

/** @type {import('../peer').PeerModule['open']} */
export async function open({ postgres, model, words, pay, refund }) {
  const waiting = new Map();
  const tools = { words, pay: (input) => pay(input, `${DBOS.workflowID}:${DBOS.stepID}`), refund };

  const agent = DBOS.registerWorkflow(
    async (task) => {
      const messages = [{ role: 'user', text: task }];
      for (;;) {
        const done = messages.filter(({ role }) => role === 'tool').length;
        const said = await DBOS.runStep(async () => model(task, done), { name: 'model' });
        messages.push({ role: 'assistant', ...said });
        if (said.call === undefined) return said.text;
        if (said.call.name === 'refund') {
          await DBOS.setEvent('approval', said.call);
          waiting.get(DBOS.workflowID)?.();
          await DBOS.recv('approval', { timeoutSeconds: 7 * 86_400 });
        }
        const { name, input } = said.call;
        const output = await DBOS.runStep(async () => tools[name](input), { name });
        messages.push({ role: 'tool', output });
      }
    },
    { name: 'agent' },
  );

  DBOS.setConfig({ name: 'peers', systemDatabaseUrl: postgres, logLevel: 'error', applicationVersion: 'bench' });
  await DBOS.launch();
  const start = (id, task) => DBOS.startWorkflow(agent, { workflowID: id })(task);
  const end = (id) => DBOS.retrieveWorkflow(id).getResult();

  return {
    async run(id, task) {
      await (await start(id, task)).getResult();
    },
    async park(id, task) {
      const waits = new Promise((resolve) => waiting.set(id, resolve));
      await start(id, task);
      await waits;
      waiting.delete(id);
    },
    async answer(id) {
      await DBOS.send(id, 'approve', 'approval');
      await end(id);
    },
    recover: (ids) => Promise.all(ids.map(end)),
    close: () => DBOS.shutdown(),
  };
}
