// Package beam runs races and simulated occupation measures on Apache Beam: on this machine by
// default, and on a cluster by a flag, with the same record to the byte. It is a module of its own, so
// that nobody else pays for Beam's size.
//
// A race is one small file ([Race]): problems, methods, settings in a grid, trials on the streams of a
// seed. From the folder of this module,
//
//	go run ./race race.json
//
// checks all of it, shows progress, and writes race.csv, a record that [race.ReadFile] reads. A
// program with problems, methods or moduli of its own has three lines ([RegisterProblem],
// [RegisterMethod], [RegisterModulus], then [Main]) and takes the same flags.
//
//	{
//	  "Problems": [{"Name": "queue"}, {"Name": "random", "Settings": {"Dim": 5, "Instance": 3}}],
//	  "Methods": [{"Name": "penalty", "Grid": {"Weight": [16, 128], "StepSize": [{"InverseSqrt": 1}, {"InverseSqrt": 8}]}}],
//	  "Trials": 1000, "Seed": 1, "Queries": [100, 10000]
//	}
//
// # Runners
//
// Beam's Prism runs in the process of the command without any flag. Its workers can be processes of
// their own, and it can be a server of its own (go run github.com/apache/beam/sdks/v2/go/cmd/prism):
//
//	go run ./race --environment_type PROCESS race.json
//	go run ./race --runner universal --endpoint localhost:8073 --environment_type PROCESS race.json
//
// and another runner is the Python SDK's
// (python -m apache_beam.runners.portability.local_job_service_main -p 8099):
//
//	go run ./race --runner universal --endpoint localhost:8099 --environment_type LOOPBACK race.json
//
// These are tested. The job servers of Flink and Spark and Google's Dataflow take what follows, as
// Beam's documentation has it; nobody has run it here. Output is where all workers can write.
//
//	docker run --net=host apache/beam_flink1.20_job_server --flink-master=HOST:8081
//	go run ./race --runner flink --endpoint localhost:8099 --output s3://BUCKET/race.csv race.json
//
//	docker run --net=host apache/beam_spark3_job_server --spark-master-url=spark://HOST:7077
//	go run ./race --runner spark --endpoint localhost:8099 --output gs://BUCKET/race.csv race.json
//
//	go run ./race --runner dataflow --project PROJECT --region REGION \
//		--staging_location gs://BUCKET/staging --output gs://BUCKET/race.csv race.json
//
// # What is done where
//
// Trials are cut into tasks of seconds, by the time of a run that [Submit] takes. Each worker builds a
// problem once, when it is first needed, from its description: nothing of a model is sent. Of a network of
// 28,561 states with six base policies the MDP takes 0.2 s and Ψ 3 s, where 1.4 MB of measures
// would come in 7 ms (BenchmarkBuild): what sending Ψ could save is at most the time of one Ψ a worker.
// Before its first trial of a method a worker does the
// first steps that the submitting program has done, and refuses to go on if they differ in a bit.
// What runs come to is added up without rounding ([Statistic]), so that neither cuts nor the order
// in which tasks end leave a trace. A run that fails or diverges is a row of the quantity
// [race.Failure]. Runners of clusters do the tasks of a worker that dies again; for the local ones,
// which end a job with its worker, the command starts the race again. (Prism 2.77 does not always notice
// that a worker process has died: then nothing goes on, and an interrupt ends the command.)
package beam
