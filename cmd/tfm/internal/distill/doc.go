// Package distill does the stages of 'tfm distill' in turn, so that after an interruption the same
// command continues: a teacher translates a text, some of its translations are chosen, and a
// student is trained on them.
//
//	work.go     Work: stages, their records, and the folder of their files
//	teacher.go  Teacher: a model whose translations are learned, shard by shard
//	choose.go   the translations that the student learns
//	course.go   Course: the training of the student
package distill
