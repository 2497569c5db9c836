import type { ErrorCode } from '../../contract/errors';
import { HoldfastError, codeOf, errorTable, messageOf } from '../../contract/errors';
import type { Json } from '../../contract/messages/messages';
import type { Logger } from '../../host/logger';
import { toldError } from '../http/error-response';

const kinds = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL: -32603,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  VERSION_NOT_SUPPORTED: -32009,
} as const;
export type A2aErrorKind = keyof typeof kinds;

export class A2aError extends HoldfastError {
  constructor(
    readonly kind: A2aErrorKind,
    code: ErrorCode,
    message: string,
  ) {
    super(code, message);
  }
}

export function asKind(kind: A2aErrorKind, error: unknown): unknown {
  const code = codeOf(error);
  return code === undefined || error instanceof A2aError ? error : new A2aError(kind, code, messageOf(error));
}

const kindOfCode: Partial<Record<ErrorCode, A2aErrorKind>> = {
  'request-invalid': 'INVALID_PARAMS',
  'input-invalid': 'INVALID_PARAMS',
  'input-too-large': 'INVALID_PARAMS',
  'run-id-invalid': 'INVALID_PARAMS',
  'run-id-in-use': 'INVALID_PARAMS',
  'not-a-conversation': 'INVALID_PARAMS',
  'answer-invalid': 'INVALID_PARAMS',
  'push-refused': 'INVALID_PARAMS',
  'interrupt-unknown': 'INVALID_PARAMS',
  'task-unknown': 'TASK_NOT_FOUND',
  'task-ended': 'UNSUPPORTED_OPERATION',
  'interrupts-open': 'UNSUPPORTED_OPERATION',
  'conversation-busy': 'UNSUPPORTED_OPERATION',
  'conversation-ended': 'UNSUPPORTED_OPERATION',
  'interrupt-answered': 'UNSUPPORTED_OPERATION',
  'interrupt-expired': 'UNSUPPORTED_OPERATION',
  'interrupt-withdrawn': 'UNSUPPORTED_OPERATION',
  'answer-forbidden': 'UNSUPPORTED_OPERATION',
  'answer-stale': 'UNSUPPORTED_OPERATION',
  'method-unknown': 'METHOD_NOT_FOUND',
};

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: Json;
}

export function rpcErrorOf(error: unknown, logger: Logger): RpcError {
  const { coded, code, message } = toldError(error, 'a request of A2A', logger);
  const kind = coded instanceof A2aError ? coded.kind : (kindOfCode[code] ?? 'INTERNAL');
  const reason = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: kind, domain: 'a2a-protocol.org' };
  return { code: kinds[kind], message, data: [{ ...reason, metadata: { code, fix: errorTable[code].fix } }] };
}
