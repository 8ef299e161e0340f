"""Evaluation: how well does an agent answer questions it was not trained on?"""
