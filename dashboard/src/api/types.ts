// Short names for the types of the API, which are generated: `npm run types`.
import type { components, operations } from './schema';

type Schemas = components['schemas'];

export type Runs = Schemas['Runs'];
export type RunRow = Schemas['RunRow'];
export type LiveRun = Schemas['LiveRun'];
export type Experiments = Schemas['Experiments'];
export type ExperimentRow = Schemas['ExperimentRow'];
export type RecentRun = Schemas['RecentRun'];
export type BaselineChange = Schemas['BaselineChange'];
export type RunState = Schemas['RunState'];
export type RunVerdict = Schemas['RunVerdict'];
export type Overview = Schemas['Overview'];
export type Report = Schemas['Report'];
export type ThresholdOutcome = Schemas['ThresholdOutcome'];
export type ScoreStats = Schemas['ScoreStats'];
export type LatencyStats = Schemas['LatencyStats'];
export type ItemStats = Schemas['ItemStats'];
export type MetricStats = Schemas['MetricStats'];
export type RunMetric = Schemas['RunMetric'];
export type RunTable = Schemas['RunTable'];
export type Items = Schemas['Items'];
export type StateCounts = Schemas['StateCounts'];
export type ItemField = Schemas['ItemField'];
export type ItemGroup = Schemas['ItemGroup'];
export type ItemRow = Schemas['ItemRow'];
export type ItemTraffic = Schemas['ItemTraffic'];
export type WholeItem = Schemas['WholeItem'];
export type Item = Schemas['Item'];
export type TrialStats = Schemas['TrialStats'];
export type Execution = Schemas['Execution'];
export type Traffic = Schemas['Traffic'];
export type Transcript = Schemas['Transcript'];
export type Turn = Schemas['Turn'];
export type ConversationEnd = Schemas['ConversationEnd'];
export type UserMistake = Schemas['UserMistake'];
/** The usage of judges or simulated users. */
export type ModelUsage = Schemas['JudgeUsage'];
export type WorkspaceChanges = Schemas['WorkspaceChanges'];
export type ChangedFile = Schemas['ChangedFile'];
export type Span = Schemas['Span'];
export type SpanKind = Schemas['SpanKind'];
export type Evaluation = Schemas['ScoredEvaluation'];
export type ComparedRuns = Schemas['ComparedRuns'];
export type ComparedRun = Schemas['ComparedRun'];
export type ComparedItem = Schemas['ComparedItem'];
export type ComparedOutput = Schemas['ComparedOutput'];
export type Comparison = Schemas['Comparison'];
export type Difference = Schemas['Difference'];
export type Interval = Schemas['Interval'];
export type Ranking = Schemas['Ranking'];
export type RankedRun = Schemas['RankedRun'];
export type RankedScore = Schemas['RankedScore'];
export type PairDifference = Schemas['PairDifference'];
export type Preference = Schemas['Preference'];
export type VariantGroup = Schemas['VariantGroup'];
export type Matrix = Schemas['Matrix'];
export type MatrixItem = Schemas['MatrixItem'];
export type MatrixCell = Schemas['MatrixCell'];
export type Trends = Schemas['Trends'];
export type TrendPoint = Schemas['TrendPoint'];
export type ThresholdLine = Schemas['ThresholdLine'];
export type ServerEvent = Schemas['ServerEvent'];
export type Index = Schemas['Index'];
export type Session = Schemas['Session'];
export type LabelledRun = Schemas['LabelledRun'];
export type SavedRun = Schemas['SavedRun'];
export type DeletedRuns = Schemas['DeletedRuns'];
export type Job = Schemas['Job'];
export type JobState = Schemas['JobState'];
export type JobList = Schemas['JobList'];
export type JobWithOutput = Schemas['JobWithOutput'];

type Query<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;

type Body<Operation extends keyof operations> = operations[Operation] extends {
  requestBody: { content: { 'application/json': infer Content } };
}
  ? Content
  : never;

export type SaveBaseline = Body<'saveBaseline'>;
export type LabelsChange = Body<'updateRun'>;
export type StartJob = Body<'startJob'>;

export type RunsQuery = Query<'runs'>;
export type ItemsQuery = Query<'items'>;
export type MatrixQuery = Query<'matrix'>;
export type TrendsQuery = Query<'trends'>;
export type ExportQuery = Query<'export'>;
