import type { HoldfastClient } from '../../client/connect';
import type { FactEvent } from '../../host/history/history-facts';
import type { HistoryConnection } from '../../host/history/history-connection';
import type { HistoryPage } from '../../host/history/history-pages';

type Ask = ReturnType<HistoryConnection['facts']>['workflowService']['getWorkflowExecutionHistory'];

export function aroundPages(
  client: HoldfastClient<never>,
  around: (request: Parameters<Ask>[0], ask: Ask) => Promise<HistoryPage<FactEvent>>,
): () => void {
  const { connection } = (client as unknown as { parts: { connection: { connection: HistoryConnection } } }).parts.connection;
  const facts = connection.facts.bind(connection);
  const standing = jest.spyOn(connection, 'facts').mockImplementation((namespace) => {
    const { workflowService } = facts(namespace);
    const ask: Ask = (request) => workflowService.getWorkflowExecutionHistory(request);
    return { namespace, workflowService: { ...workflowService, getWorkflowExecutionHistory: (request) => around(request, ask) } };
  });
  return () => standing.mockRestore();
}
